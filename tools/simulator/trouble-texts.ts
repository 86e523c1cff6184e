// What a person can let go wrong in a simulator: what each trouble does, and when a daemon can know of it.
import type { AimedKind, HealthKind } from './trouble.ts';

export interface TroubleText {
  readonly description: string;
  /** When a daemon that guards the simulator can know, in sentences. */
  readonly seen: readonly string[];
}

type TroubleCommand = TroubleText &
  (
    | { readonly kind: AimedKind; readonly target: 'mailbox' | 'domain' }
    | { readonly kind: HealthKind; readonly target: null }
  );

const nextStats = 'A daemon sees it when it next reads the statistics of this mailbox.';
const nextWarmup = 'A daemon sees it when it next reads the warm-up of this mailbox.';
const fiveMinutes = 'A daemon sends an alert when this has lasted for 5 minutes.';
const onceADay = [
  'To repeat it today on the same mailbox, use `simulator emergency`: after a change of mode, Warmwarden counts only emails',
  'from the next day on.',
].join(' ');

export const troubleCommands: readonly TroubleCommand[] = [
  {
    kind: 'breach',
    target: 'mailbox',
    description: 'make a mailbox exceed the bounce limit of its mode',
    seen: [nextStats, onceADay],
  },
  {
    kind: 'emergency',
    target: 'mailbox',
    description: 'make a third of the emails bounce that a mailbox sent today and yesterday',
    seen: [nextStats],
  },
  {
    kind: 'dns-failure',
    target: 'domain',
    description: 'remove the SPF and DKIM records of a domain',
    seen: ['A daemon sees it when it next reads the DNS check, and asks for a second check before it sends an alert.'],
  },
  {
    kind: 'disconnect',
    target: 'mailbox',
    description: 'make the login of a mailbox fail',
    seen: [
      'A daemon sees it when it next reads the mailbox list, and reads the mailbox twice before it sends an alert.',
    ],
  },
  {
    kind: 'repair',
    target: 'domain',
    description: 'repair DNS, listings and logins of a domain',
    seen: ['A daemon that sent an alert reports that it is resolved, once it has read that.'],
  },
  {
    kind: 'pause',
    target: 'mailbox',
    description: 'pause the warm-up of a mailbox, as a person does in the warm-up service',
    seen: [nextWarmup],
  },
  {
    kind: 'raise-mode',
    target: 'mailbox',
    description: 'set a mailbox to the next faster mode, as a person does in the warm-up service',
    seen: [nextWarmup],
  },
  {
    kind: 'raise-limit',
    target: 'mailbox',
    description: 'set the daily limit of a mailbox above the maximum of its mode, as a person does',
    seen: [nextWarmup],
  },
  {
    kind: 'unwell',
    target: null,
    description: 'make the health check report "degraded"',
    seen: [fiveMinutes],
  },
  {
    kind: 'clock-off',
    target: null,
    description: 'put the clock of the API, as its health check reports it, 5 minutes ahead',
    seen: [fiveMinutes],
  },
  {
    kind: 'well',
    target: null,
    description: 'make the health check report "ok" and the right time again',
    seen: ['A daemon that sent an alert reports that it is resolved, once it has read that.'],
  },
];
