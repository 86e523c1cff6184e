// The commands of the page as a table: the page of each, its words, its fields, and the body of its request.
import { periods } from '../../core/alert.ts';
import { accountOfKey, type MailboxState, mailboxKey } from '../../core/mailbox.ts';
import { mailboxPath } from '../../core/page-links.ts';
import { warmupModes } from '../../core/policy.ts';
import { secondMs } from '../../core/time.ts';
import { counted } from '../../core/wording/phrases.ts';
import type { OperationName } from '../../operations/command-requests.ts';
import { readDuration } from '../../world/schema/scalars.ts';
import type { CommandField, CommandText } from '../page/command-page.ts';

export const commandPaths = [
  '/mailboxes',
  '/alerts',
  '/silences',
  '/writes',
  '/breaker',
  '/activity',
  '/deliveries',
] as const;

type Values = Readonly<Record<string, string>>;

interface PageCommand {
  readonly operation: OperationName;
  /** Title. `subject`: the mailboxes of a mailbox command. */
  readonly title: (subject: string, values: Values) => string;
  readonly button: string;
  readonly back?: string;
  readonly folded?: string;
  /** Parameters of the address that the forms pass on as hidden fields. */
  readonly hidden?: readonly string[];
  readonly fields?: readonly CommandField[];
  readonly body?: (values: Values) => Readonly<Record<string, unknown>>;
}

const durationHint = 'A number and a unit, such as 30m, 4h or 2d.';
const scope = ['account', 'mailbox'] as const;
const field = (name: string, label: string, hint?: string): CommandField => {
  return { name, label, value: '', kind: 'text', ...(hint !== undefined && { hint }) };
};
const matchers = [
  field('rule', 'Rule', 'Such as dns_failing, or dns_* for all that begin with dns_.'),
  field('account', 'Account'),
  field('tag', 'Tag', 'Such as vip, client=north, or client=* for all clients.'),
  field('provider', 'Provider'),
  field('mailbox', 'Mailbox'),
  field('domain', 'Domain'),
  field(
    'object',
    'Object',
    'What else an alert is about: a domain as a whole, an IP address, a channel, the address of an API.',
  ),
  field('severity', 'Severity', 'critical, warning or info.'),
];

const ofApi: Pick<PageCommand, 'hidden' | 'body'> = { hidden: ['api'], body: (values) => filled(values, ['api']) };

/** Commands by path and the parameter `do`. */
const commands: Readonly<Record<string, PageCommand>> = {
  '/mailboxes pause': { operation: 'pause', title: (of) => `Pause the warm-up of ${of}`, button: 'Pause' },
  '/mailboxes resume': { operation: 'resume', title: (of) => `Resume the warm-up of ${of}`, button: 'Resume' },
  '/mailboxes mode': {
    operation: 'mode',
    title: (of) => `Set the warm-up mode of ${of}`,
    button: 'Set the mode',
    fields: [{ name: 'mode', label: 'Mode', value: '', kind: 'choice', options: warmupModes }],
    body: ({ mode }) => ({ mode }),
  },
  '/mailboxes limit': {
    operation: 'limit',
    title: (of) => `Set the target daily limit of ${of}`,
    button: 'Set the daily limit',
    fields: [{ name: 'limit', label: 'Emails a day', value: '', kind: 'number' }],
    body: ({ limit }) => ({ limit: Number(limit) }),
  },
  '/mailboxes set': {
    operation: 'set',
    title: (of) => `Change the settings of ${of}`,
    button: 'Change the settings',
    fields: [
      { name: 'reply_rate', label: 'Reply rate', value: '', kind: 'text', hint: 'Percent. Empty: as it is.' },
      {
        name: 'send_window',
        label: 'Send window',
        value: '',
        kind: 'text',
        hint: 'Hours, such as 8-18. Empty: as it is.',
      },
    ],
    body: (values) => {
      const { reply_rate: rate, ...window } = filled(values, ['reply_rate', 'send_window']);
      return { ...window, ...(rate !== undefined && { reply_rate: Number(rate) }) };
    },
  },
  '/mailboxes contest-end': {
    operation: 'contest-end',
    title: (of) => `Let Warmwarden act on ${of} again`,
    button: 'Let it act',
  },
  '/silences add': {
    operation: 'silence-add',
    title: () => 'Add a silence',
    button: 'Add the silence',
    back: '/silences',
    fields: [
      ...matchers,
      { name: 'for', label: 'For', value: '4h', kind: 'duration', hint: durationHint },
      field('begin', 'From', 'Such as 2026-12-05 22:00. Empty: now.'),
      { name: 'every', label: 'Every', value: '', kind: 'choice', options: periods, optional: true },
      field('until', 'Until', 'The last day of a repetition. Empty: until a person expires it.'),
    ],
    body: (values) => ({
      match: Object.fromEntries(
        matchers.flatMap(({ name }) => {
          const globs = (values[name] ?? '').split(/[\s,]+/).filter(Boolean);
          return globs.length === 0 ? [] : [[name, globs]];
        }),
      ),
      for_seconds: secondsIn(values['for']),
      ...filled(values, ['every', 'until']),
      ...(values['begin'] && { from: values['begin'] }),
    }),
  },
  '/silences expire': {
    operation: 'silence-expire',
    title: () => 'Expire a silence',
    button: 'Expire it',
    back: '/silences',
    hidden: ['id'],
    body: ({ id = '' }) => ({ id }),
  },
  '/alerts acknowledge': {
    operation: 'acknowledge',
    title: () => 'Acknowledge an alert',
    button: 'Acknowledge',
    back: '/alerts',
    hidden: ['alert'],
    body: ({ alert = '' }) => ({ alert }),
  },
  '/writes off': {
    operation: 'writes',
    title: (_subject, values) => `Switch writes off ${scopeText(values)}`,
    button: 'Switch writes off',
    folded: 'Choose an account, a mailbox or a duration',
    fields: [
      field('account', 'Account', 'Empty: all accounts.'),
      field('mailbox', 'Mailbox', 'Empty: all mailboxes.'),
      {
        ...{ name: 'for', label: 'For', value: '', kind: 'duration', optional: true },
        hint: `${durationHint} Empty: until a person ends it.`,
      },
    ],
    body: (values) => ({ off: true, ...filled(values, scope), for_seconds: secondsIn(values['for']) }),
  },
  '/writes on': {
    operation: 'writes',
    title: (_subject, values) => `Switch writes on again ${scopeText(values)}`,
    button: 'Switch writes on',
    hidden: scope,
    body: (values) => ({ off: false, ...filled(values, scope) }),
  },
  '/breaker apply': {
    operation: 'breaker-apply',
    title: () => 'Carry out the held actions',
    button: 'Carry them out',
    ...ofApi,
  },
  '/breaker discard': {
    operation: 'breaker-discard',
    title: () => 'Drop the held actions',
    button: 'Drop them',
    ...ofApi,
  },
  '/activity undo': {
    operation: 'undo',
    title: () => 'Undo what Warmwarden did',
    button: 'Undo',
    back: '/activity',
    fields: [{ name: 'since', label: 'In the last', value: '1h', kind: 'duration', hint: durationHint }],
    body: ({ since }) => ({ since_seconds: secondsIn(since) }),
  },
  '/deliveries resend': {
    operation: 'channels-resend',
    title: () => 'Send undelivered messages again',
    button: 'Send',
    hidden: ['channel', 'delivery'],
    body: (values) => filled(values, ['channel', 'delivery']),
  },
};

export interface PreparedRequest {
  /** The email address among several mailboxes, or else empty. */
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Prepared {
  readonly operation: OperationName;
  readonly text: CommandText;
  readonly fields: readonly CommandField[];
  readonly hidden: readonly (readonly [name: string, value: string])[];
  readonly wrong: string | null;
  readonly requests: readonly PreparedRequest[];
}

/** Path at which a command is prepared, and the parameters of its address. */
export interface PreparedAt {
  readonly path: string;
  readonly asked: URLSearchParams;
  readonly mailbox: (account: string, id: string) => MailboxState | undefined;
}

const maxMailboxes = 100;
const maxValueLength = 1_000;

export function preparedAt(at: PreparedAt): Prepared | { readonly unknown: string } | null {
  const { path, asked } = at;
  const long = [...asked].find(([, value]) => value.length > maxValueLength);
  if (long) return { unknown: `${long[0]}: longer than ${maxValueLength} characters.` };
  const word = asked.get('do') ?? '';
  const name = `${path} ${word}`;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) return null;
  const { operation, title, button, back = '/', folded, hidden = [], body } = command;
  const textOf = (key: string, usual: string) => (asked.has(key) ? asked.getAll(key).join(', ').trim() : usual);
  const fields = (command.fields ?? []).map((one) => ({ ...one, value: textOf(one.name, one.value) }));
  const known = hidden.flatMap((key) => (asked.get(key) ? [[key, textOf(key, '')] as const] : []));
  const values = Object.fromEntries([...known, ...fields.map((one) => [one.name, one.value] as const)]);
  const prepared = { operation, fields, wrong: wrongIn(fields) };
  const rest = body?.(values) ?? {};
  if (path !== '/mailboxes') {
    const text = { title: title('', values), button, back, ...(folded !== undefined && { folded }) };
    return { ...prepared, text, hidden: [['do', word], ...known], requests: [{ name: '', body: rest }] };
  }
  const found = mailboxesAt(at);
  if (found.unknown !== undefined) return { unknown: found.unknown };
  const [first, ...others] = found.mailboxes;
  const subject = first && others.length === 0 ? first.email : counted(found.mailboxes.length, 'mailbox', 'mailboxes');
  return {
    ...prepared,
    text: { title: title(subject, values), button, back: first && others.length === 0 ? mailboxPath(first) : '/' },
    hidden: [['do', word], ...asked.getAll('mailbox').map((one) => ['mailbox', one] as const)],
    requests: found.mailboxes.map(({ account, id, email }) => ({
      name: others.length === 0 ? '' : email,
      body: { mailbox: mailboxKey(account, id), ...rest },
    })),
  };
}

function mailboxesAt({ asked, mailbox }: PreparedAt) {
  const wanted = [...new Set(asked.getAll('mailbox'))];
  if (wanted.length === 0) return { unknown: 'No mailbox is selected. Go back, and select the mailboxes.' };
  if (wanted.length > maxMailboxes) return { unknown: `More than ${maxMailboxes} mailboxes are selected.` };
  const mailboxes = wanted.flatMap((key) => {
    const account = accountOfKey(key);
    return mailbox(account, key.slice(account.length + 1)) ?? [];
  });
  return mailboxes.length === wanted.length
    ? { mailboxes }
    : { unknown: 'Warmwarden does not guard one of these mailboxes. Go back, and reload the page.' };
}

function wrongIn(fields: readonly CommandField[]): string | null {
  for (const { kind, value, optional = false } of fields) {
    const read = kind === 'duration' && !(optional && value === '') ? readDuration(value) : null;
    if (typeof read === 'string') return `${read}.`;
    if ((kind === 'choice' || kind === 'number') && value === '' && !optional) return '';
  }
  return null;
}

function scopeText({ account, mailbox }: Values): string {
  if (mailbox) return `for ${mailbox}`;
  return account ? `for the account ${account}` : 'for all accounts';
}

function filled(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.flatMap((name) => (values[name] ? [[name, values[name]]] : [])));
}

function secondsIn(text = ''): number | null {
  const ms = readDuration(text);
  return typeof ms === 'string' ? null : ms / secondMs;
}
