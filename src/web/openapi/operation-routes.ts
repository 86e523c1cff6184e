// The operator commands and the reload, as they are described.
import { type OperationName, operationNames, operationShapes } from '../../operations/command-requests.ts';
import { reloadParameters } from '../operations-route.ts';
import { outcomeAnswer } from '../shapes/answers.ts';
import { type Described, type DescribedAnswer, inQuery } from './described.ts';
import { operationExamples, plannedExample } from './examples.ts';

const summaries: Readonly<Record<OperationName, string>> = {
  'breaker-release': 'Carry out the actions that the circuit breakers are holding, except where writes are off',
  'contest-release': 'Let Warmwarden act again on a mailbox where others reversed its changes',
  pause: 'Pause the warm-up of a mailbox',
  resume: 'Resume the warm-up of a mailbox',
  mode: 'Set the warm-up mode of a mailbox',
  limit: 'Set the target daily limit of a mailbox',
  undo: 'Undo what Warmwarden did by itself lately',
  writes: 'Start or end the emergency stop',
  'silence-add': 'Add a silence',
  'silence-expire': 'Expire a silence',
  'channels-resend': 'Send undelivered messages again',
  reload: 'Reload the configuration',
  refresh: 'Read all data of a mailbox again',
};

function outcome(description: string, example?: unknown): DescribedAnswer {
  return { description, content: { 'application/json': outcomeAnswer }, ...(example === undefined ? {} : { example }) };
}

const outcomes = {
  200: outcome(
    '`planned`: a dry run, nothing was done. `done`: done, and read back where a mailbox was changed. `no_change`: there was nothing to do.',
    plannedExample,
  ),
  409: outcome(
    '`changed`: the situation has changed since the plan, and nothing was done. `failed`: not done, or not all of it; the messages say why.',
  ),
};

function idOf(name: OperationName): string {
  return name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

export const operationRoutes: readonly Described[] = [
  ...operationNames.map(
    (name): Described => ({
      route: `POST /api/operations/${name}`,
      id: idOf(name),
      tag: 'operations',
      summary: summaries[name],
      access: 'operator',
      body: {
        type: 'application/json',
        required: true,
        shape: operationShapes[name],
        example: operationExamples[name],
      },
      answers: {
        ...outcomes,
        422: outcome('`invalid`: the request names something unknown, or makes no sense.'),
      },
      refusals: ['bad_request', 'too_large', 'not_json', 'starting'],
    }),
  ),
  {
    route: 'POST /-/reload',
    id: 'reloadConfiguration',
    tag: 'operations',
    summary: 'Reload the configuration, without a body',
    description:
      'Without tokens every client that the server answers may reload, here and with `POST /api/operations/reload`, because a reload changes only what the file says. Requests from web pages are refused.',
    access: 'operator',
    parameters: inQuery(reloadParameters, {
      dry_run: 'Only say what would change.',
      force: 'Also accept a file that removes more than 20 % of the mailboxes, or every channel except recipes.',
    }),
    answers: { ...outcomes, 200: outcome('The file was accepted.') },
    refusals: ['bad_request'],
  },
];
