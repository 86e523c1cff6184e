// Examples of what is sent and answered. A test holds each against its schema.
import type { OperationBody, OperationName } from '../../operations/command-requests.ts';

const mailbox = 'amelia.ward@northbeam.example';
const reason = 'list is being cleaned';

export const operationExamples: { readonly [Name in OperationName]: OperationBody<Name> } = {
  'breaker-release': { reason: 'checked all of them' },
  'contest-release': { mailbox, reason: 'agreed with the client' },
  pause: { mailbox, reason, dry_run: true },
  resume: { mailbox, reason: 'the list is clean' },
  mode: { mailbox, mode: 'recovery', reason },
  limit: { mailbox, limit: 20, reason },
  undo: { since_seconds: 3_600, reason: 'the bounces were ours' },
  writes: { off: true, account: null, mailbox: null, for_seconds: 7_200, reason: 'maintenance' },
  'silence-add': { match: { rule: ['dns_*'] }, for_seconds: 14_400, reason: 'DNS moves' },
  'silence-expire': { id: 's-1', reason: 'DNS has moved' },
  'channels-resend': { channel: 'ops', reason: 'Slack is back' },
  reload: { dry_run: true },
  refresh: { mailbox },
};

export const plannedExample = {
  result: 'planned',
  messages: [
    'Warmwarden will pause the warm-up of amelia.ward@northbeam.example (account simulated, mode balanced, warm-up active) until a person resumes it.',
  ],
  plan: 'EfncK2qShKeFr7eKBJZf9U',
};
