// Our alerts as Alertmanager writes them: labels that name them, annotations that say what is so, and its fingerprint.
import type { Alert, AlertRule, Transition } from '../model/alert.ts';

type Words = Readonly<Record<string, string>>;
/** Before what is unknown or empty is left out. */
type Raw = Readonly<Record<string, string | number | null | undefined>>;

/** Events, whose object is one action, command or moment: as a label it would make each an alert of its own for ever. By rule: the annotation that names it. */
const namesOfEvents: Partial<Record<AlertRule, string>> = {
  guard_acted: 'action_id',
  restored: 'action_id',
  operator_acted: 'command_id',
  changed_by_others: 'changed_at_ms',
};

/** What names an alert. Alertmanager takes two alerts with the same labels for one, and drops empty values. */
export function labelsOf(alert: Alert): Words {
  return filled(rawLabelsOf(alert));
}

function rawLabelsOf({ rule, severity, account, email, mailboxId, object }: Alert): Raw {
  const named = rule in namesOfEvents ? null : object;
  return { alertname: rule, severity, account, mailbox: email, mailbox_id: mailboxId, object: named };
}

/** What is said of an alert: `summary` and `description` as is the custom, and every number under its own name. */
export function annotationsOf(alert: Alert): Words {
  return filled(rawAnnotationsOf(alert));
}

function rawAnnotationsOf({ rule, object, facts }: Alert): Raw {
  const { title, sentences, numbers } = facts;
  const name = namesOfEvents[rule];
  return { ...numbers, ...(name ? { [name]: object } : {}), summary: title, description: sentences.join(' ') };
}

/** Where to look: the page of what it is about. */
export function generatorUrlOf({ facts }: Alert): string {
  const page = facts.numbers['page_url'];
  return typeof page === 'string' && URL.canParse(page) ? page : '';
}

/** When it began, ISO 8601. An event begins when it happens. */
export function startsAtOf({ kind, at, alert }: Transition): string {
  return new Date(kind === 'event' ? at : (alert.firingAt ?? alert.since)).toISOString();
}

/** When a resolved alert ended; never before it began, which Alertmanager would refuse after a clock was set back. */
export function endsAtOf({ at, alert }: Transition): string {
  return new Date(Math.max(alert.resolvedAt ?? at, alert.firingAt ?? alert.since)).toISOString();
}

/** The labels and the annotations that all have, with the same value. */
export function commonOf(transitions: readonly Transition[]): { readonly labels: Words; readonly annotations: Words } {
  return { labels: common(transitions, rawLabelsOf), annotations: common(transitions, rawAnnotationsOf) };
}

/** A storm has an alert for each mailbox: nothing is made of one but what is compared, and the rest is passed by when nothing is left. */
function common(transitions: readonly Transition[], rawOf: (alert: Alert) => Raw): Words {
  const [first, ...others] = transitions;
  let left = first ? Object.entries(rawOf(first.alert)) : [];
  for (const { alert } of others) {
    if (left.length === 0) break;
    const raw = rawOf(alert);
    if (left.some(([name, value]) => raw[name] !== value)) left = left.filter(([name, value]) => raw[name] === value);
  }
  return filled(Object.fromEntries(left));
}

/** What a message is grouped by: the account and the rule, where they are among the common labels. */
export function groupLabelsOf({ alertname, account }: Words): Words {
  return filled({ account, alertname });
}

/** As Prometheus prints a label set: `{account="acme", alertname="dns_failing"}`. */
export function labelText(labels: Words): string {
  const names = Object.keys(labels).sort();
  return `{${names.map((name) => `${name}=${JSON.stringify(labels[name])}`).join(', ')}}`;
}

const fnvOffset = 0xcbf29ce484222325n;
const fnvPrime = 0x100000001b3n;
const separator = 0xff;

/** The fingerprint that Alertmanager gives to the same labels: FNV-1a over the sorted names and values, 16 hex digits. */
export function fingerprintOfLabels(labels: Words): string {
  let hash = fnvOffset;
  const add = (byte: number) => {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * fnvPrime);
  };
  for (const name of Object.keys(labels).sort()) {
    for (const text of [name, labels[name] ?? '']) {
      for (const byte of Buffer.from(text)) add(byte);
      add(separator);
    }
  }
  return hash.toString(16).padStart(16, '0');
}

/** Without what is unknown or empty; well-formed, since Alertmanager refuses broken UTF-8. */
function filled(words: Raw): Words {
  const given = Object.entries(words).flatMap(([name, value]): [string, string][] => {
    const text = value === null || value === undefined ? '' : String(value).toWellFormed();
    return text === '' ? [] : [[name, text]];
  });
  return Object.fromEntries(given);
}
