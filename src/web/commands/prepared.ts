// Prepares the command of a page address: its subject, its open choices, and its requests.
import { type MailboxState, mailboxKey } from '../../core/mailbox.ts';
import { mailboxPath } from '../../core/page-links.ts';
import { warmupModes } from '../../core/policy.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../core/time.ts';
import { counted } from '../../core/wording/phrases.ts';
import type { OperationName } from '../../operations/command-requests.ts';
import type { CommandField, CommandText } from '../page/command-page.ts';

/** A single request of a command. */
export interface PreparedRequest {
  /** Subject of the request if the command has several; empty for a single one. */
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Prepared {
  readonly operation: OperationName;
  readonly text: CommandText;
  readonly fields: readonly CommandField[];
  /** Parameters that identify the command, for hidden fields. */
  readonly given: readonly (readonly [name: string, value: string])[];
  /** Error sentence, empty if a choice is still missing, or null. */
  readonly wrong: string | null;
  readonly requests: readonly PreparedRequest[];
}

/** Page on which a command is prepared, and the parameters of its address. */
export interface PreparedAt {
  /** Pattern such as `/mailboxes/:account/:id`. */
  readonly pattern: string;
  readonly names: Readonly<Record<string, string>>;
  readonly asked: URLSearchParams;
  readonly mailbox: (account: string, id: string) => MailboxState | undefined;
}

/** Largest number of mailboxes on one page of the table. */
const maxMailboxes = 100;
const maxValueLength = 1_000;

const mailboxPattern = '/mailboxes/:account/:id';
export const commandPatterns = [
  mailboxPattern,
  '/mailboxes',
  '/silences',
  '/writes',
  '/breaker',
  '/activity',
  '/deliveries',
] as const;

/** Prepares the command, or returns null if the page has no command with this name. */
export function preparedAt(at: PreparedAt): Prepared | { readonly unknown: string } | null {
  for (const [name, value] of at.asked) {
    if (value.length > maxValueLength) return { unknown: `${name}: longer than ${maxValueLength} characters.` };
  }
  const word = at.asked.get('do') ?? '';
  if (at.pattern === mailboxPattern || at.pattern === '/mailboxes') return ofMailboxes(word, at);
  const kind = kinds[`${at.pattern} ${word}`];
  return kind ? kind(at.asked) : null;
}

interface MailboxCommand {
  readonly operation: OperationName;
  readonly title: (what: string) => string;
  readonly button: string;
  readonly field?: CommandField;
  /** Parameters besides the mailbox. */
  readonly taken?: (chosen: string) => Readonly<Record<string, unknown>>;
}

const mailboxCommands: Readonly<Record<string, MailboxCommand>> = {
  pause: { operation: 'pause', title: (what) => `Pause the warm-up of ${what}`, button: 'Pause' },
  resume: { operation: 'resume', title: (what) => `Resume the warm-up of ${what}`, button: 'Resume' },
  mode: {
    operation: 'mode',
    title: (what) => `Set the warm-up mode of ${what}`,
    button: 'Set the mode',
    field: { name: 'mode', label: 'Mode', value: '', kind: 'choice', options: warmupModes },
    taken: (mode) => ({ mode }),
  },
  limit: {
    operation: 'limit',
    title: (what) => `Set the target daily limit of ${what}`,
    button: 'Set the daily limit',
    field: { name: 'limit', label: 'Emails a day', value: '', kind: 'number' },
    taken: (limit) => ({ limit: Number(limit) }),
  },
  'contest-release': {
    operation: 'contest-release',
    title: (what) => `Let Warmwarden act on ${what} again`,
    button: 'Release',
  },
};

function ofMailboxes(word: string, { pattern, names, asked, mailbox }: PreparedAt) {
  const command = Object.hasOwn(mailboxCommands, word) ? mailboxCommands[word] : undefined;
  if (!command) return null;
  const wanted =
    pattern === mailboxPattern
      ? [[names['account'] ?? '', names['id'] ?? ''] as const]
      : [...new Set(asked.getAll('mailbox'))].map(partsOf);
  if (wanted.length === 0) return { unknown: 'No mailbox is selected. Go back, and select the mailboxes.' };
  if (wanted.length > maxMailboxes) return { unknown: `More than ${maxMailboxes} mailboxes are selected.` };
  const found = wanted.map(([account, id]) => mailbox(account, id));
  const known = found.filter((one) => one !== undefined);
  const [first] = known;
  if (!first || known.length < found.length) {
    return { unknown: 'Warmwarden does not guard one of these mailboxes. Go back, and reload the page.' };
  }
  const { operation, title, button, field, taken } = command;
  const chosen = field ? (asked.get(field.name) ?? '') : '';
  const isSingle = known.length === 1;
  const back = pattern === mailboxPattern ? mailboxPath(first) : '/';
  return {
    operation,
    text: { title: title(isSingle ? first.email : counted(known.length, 'mailbox', 'mailboxes')), button, back },
    fields: field ? [{ ...field, value: chosen }] : [],
    given: [['do', word], ...asked.getAll('mailbox').map((one) => ['mailbox', one] as const)],
    wrong: field && chosen === '' ? '' : null,
    requests: known.map(({ account, id, email }) => ({
      name: isSingle ? '' : email,
      body: { mailbox: mailboxKey(account, id), ...taken?.(chosen) },
    })),
  } satisfies Prepared;
}

/** Splits `ACCOUNT/ID`: the name of an account has no slash. */
function partsOf(key: string): readonly [account: string, id: string] {
  const slash = key.indexOf('/');
  return slash < 0 ? ['', key] : [key.slice(0, slash), key.slice(slash + 1)];
}

const kinds: Readonly<Record<string, (asked: URLSearchParams) => Prepared>> = {
  '/silences add': silenceAdd,
  '/silences expire': (asked) => ({
    ...plain(['expire', 'silence-expire'], { title: 'Expire a silence', button: 'Expire it', back: '/silences' }),
    given: [
      ['do', 'expire'],
      ['id', asked.get('id') ?? ''],
    ],
    requests: [{ name: '', body: { id: asked.get('id') ?? '' } }],
  }),
  '/writes off': writesOff,
  '/writes on': writesOn,
  '/breaker release': () =>
    plain(['release', 'breaker-release'], { title: 'Release the circuit breaker', button: 'Release', back: '/' }),
  '/activity undo': undo,
  '/deliveries resend': (asked) => {
    const which = pick(asked, ['channel', 'delivery']);
    return {
      ...plain(['resend', 'channels-resend'], { title: 'Send undelivered messages again', button: 'Send', back: '/' }),
      given: [['do', 'resend'], ...Object.entries(which)],
      requests: [{ name: '', body: which }],
    };
  },
};

/** A command without parameters. */
function plain([word, operation]: readonly [string, OperationName], text: CommandText): Prepared {
  return { operation, text, fields: [], given: [['do', word]], wrong: null, requests: [{ name: '', body: {} }] };
}

const durationHint = 'A number and a unit, such as 30m, 4h or 2d.';

function silenceAdd(asked: URLSearchParams): Prepared {
  const matchers = ['rule', 'account', 'mailbox', 'domain', 'object', 'severity'] as const;
  const words = (name: string) => asked.getAll(name).flatMap((one) => one.split(/[\s,]+/).filter(Boolean));
  const match = Object.fromEntries(
    matchers.map((name) => [name, words(name)] as const).filter(([, found]) => found.length > 0),
  );
  const lasts = asked.get('for') ?? '4h';
  const forMs = durationMs(lasts);
  const hints: Readonly<Record<string, string>> = {
    rule: 'Such as dns_failing, or dns_* for all that begin with dns_.',
    object: 'What else an alert is about: a domain as a whole, an IP address, a channel, the address of an API.',
    severity: 'critical, warning or info.',
  };
  return {
    ...plain(['add', 'silence-add'], { title: 'Add a silence', button: 'Add the silence', back: '/silences' }),
    fields: [
      ...matchers.map((name): CommandField => {
        const label = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
        return { name, label, value: words(name).join(', '), kind: 'text', hint: hints[name] };
      }),
      { name: 'for', label: 'For', value: lasts, kind: 'text', hint: durationHint },
    ],
    wrong: forMs === null ? badDuration(lasts) : null,
    requests: [{ name: '', body: { match, for_seconds: (forMs ?? 0) / secondMs } }],
  };
}

function writesOff(asked: URLSearchParams): Prepared {
  const scope = pick(asked, ['account', 'mailbox']);
  const lasts = asked.get('for') ?? '';
  const forMs = lasts === '' ? null : durationMs(lasts);
  return {
    ...plain(['off', 'writes'], {
      title: `Stop all changes ${scopeText(scope)}`,
      button: 'Start the emergency stop',
      back: '/',
      folded: 'Choose an account, a mailbox or a duration',
    }),
    fields: [
      { name: 'account', label: 'Account', value: scope['account'] ?? '', kind: 'text', hint: 'Empty: all accounts.' },
      { name: 'mailbox', label: 'Mailbox', value: scope['mailbox'] ?? '', kind: 'text', hint: 'Empty: all mailboxes.' },
      { name: 'for', label: 'For', value: lasts, kind: 'text', hint: `${durationHint} Empty: until a person ends it.` },
    ],
    wrong: lasts !== '' && forMs === null ? badDuration(lasts) : null,
    requests: [{ name: '', body: { off: true, ...scope, for_seconds: forMs === null ? null : forMs / secondMs } }],
  };
}

function writesOn(asked: URLSearchParams): Prepared {
  const scope = pick(asked, ['account', 'mailbox']);
  const title = `Allow changes ${scopeText(scope)} again`;
  return {
    ...plain(['on', 'writes'], { title, button: 'End the emergency stop', back: '/' }),
    given: [['do', 'on'], ...Object.entries(scope)],
    requests: [{ name: '', body: { off: false, ...scope } }],
  };
}

function scopeText(scope: Readonly<Record<string, string>>): string {
  if (scope['mailbox'] !== undefined) return `to ${scope['mailbox']}`;
  return scope['account'] === undefined ? 'to all accounts' : `to the account ${scope['account']}`;
}

function undo(asked: URLSearchParams): Prepared {
  const since = asked.get('since') ?? '1h';
  const sinceMs = durationMs(since);
  return {
    ...plain(['undo', 'undo'], { title: 'Undo what Warmwarden did', button: 'Undo', back: '/activity' }),
    fields: [{ name: 'since', label: 'In the last', value: since, kind: 'text', hint: durationHint }],
    wrong: sinceMs === null ? badDuration(since) : null,
    requests: [{ name: '', body: { since_seconds: (sinceMs ?? 0) / secondMs } }],
  };
}

/** Returns the parameters that are present and not empty. */
function pick(asked: URLSearchParams, names: readonly string[]): Readonly<Record<string, string>> {
  const found = names.map((name) => [name, asked.get(name)?.trim() ?? ''] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== ''));
}

const unitMs: Readonly<Record<string, number>> = { s: secondMs, m: minuteMs, h: hourMs, d: dayMs };

/** Parses a duration; null if the text is none. */
function durationMs(text: string): number | null {
  const [, number, unit = ''] = /^(\d{1,6})\s*([smhd])$/.exec(text.trim()) ?? [];
  return number === undefined ? null : Number(number) * (unitMs[unit] ?? 0);
}

function badDuration(text: string): string {
  return `"${text}" is not a duration: write a number and a unit, such as 30m, 4h or 2d.`;
}
