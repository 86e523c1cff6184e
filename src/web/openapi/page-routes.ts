// The pages and what they load, and the commands on them, as they are described.
import { z } from 'zod';
import { severities } from '../../core/alert.ts';
import { warmupModes } from '../../core/policy.ts';
import { commandPatterns } from '../commands/prepared.ts';
import { eventsParameters } from '../live/events-route.ts';
import { formTokenField } from '../page/layout.ts';
import { refreshParameters } from '../page-routes.ts';
import { runWithRowsShape } from '../recipes/recipe-json.ts';
import { places } from '../views.ts';
import { type Described, type DescribedParameter, inPath, inQuery } from './described.ts';

const html = { 'text/html': z.string() };

const selection = 'Exactly this one.';

/** What the page at a path is called, and what its parameters mean. */
const pages: Readonly<Record<string, readonly [id: string, summary: string, Readonly<Record<string, string>>]>> = {
  '/': [
    'showFleet',
    'The fleet',
    {
      q: 'Words that the address, account, id, state or mode must contain.',
      state: "One of the guard's states.",
      page: 'From 1; a page beyond the last one is the last one.',
      account: selection,
      domain: selection,
      provider: selection,
      tag: selection,
      sort: 'What comes first: what needs a person (worst), or by one column.',
    },
  ],
  '/groups': [
    'showGroups',
    'The fleet by account, domain, provider or tag; up to 200 groups, those that need attention first',
    { by: 'What the fleet is grouped by.' },
  ],
  '/alerts': [
    'showAlerts',
    'The firing alerts, 50 a page, and the past ones, each with the messages about it',
    {
      severity: selection,
      rule: selection,
      account: selection,
      mailbox: 'Only about this mailbox: an address, an id or ACCOUNT/ADDRESS.',
      page: 'Of the firing ones, from 1; a page beyond the last one is the last one.',
      before: 'The number of a step: only past alerts that are older.',
    },
  ],
  '/activity': [
    'showActivity',
    'What people and Warmwarden did, the newest first, 100 a page',
    {
      by: 'Who did it: a name, or `Warmwarden`.',
      mailbox: 'An address, an id or ACCOUNT/ADDRESS.',
      operation: 'What was done.',
      reason: 'Why Warmwarden did it.',
      until: 'Only what is older, in milliseconds since 1970.',
    },
  ],
  '/silences': ['showSilences', 'The silences in force, and how many alerts each mutes', {}],
  '/budget': [
    'showBudget',
    'The requests that each key allows, and how old each kind of data is; 40 accounts a page, too small budgets first',
    { page: 'From 1; a page beyond the last one is the last one.' },
  ],
  '/replicas': ['showReplicas', 'The replicas that share a PostgreSQL store', {}],
  '/recipes': ['showRecipes', 'The recipes, and the files that are not valid ones', {}],
  '/recipes/:id': ['showRecipe', 'A recipe with its parameters and its last 30 runs', {}],
  '/runs/:id': ['showRun', 'A run with 100 of its rows', { offset: 'The first row; 0 when left out.' }],
  '/configuration': [
    'showConfiguration',
    'The settings in force without secrets, and the source of each',
    { q: 'Words that the setting or its value must contain.', changed: '`only`: without what is the default.' },
  ],
  '/mailboxes/:account/:id': [
    'showMailbox',
    'A mailbox with its last 50 decisions',
    {
      day: 'The decisions until the end of this day.',
      until: 'The decisions until this moment, in milliseconds since 1970.',
    },
  ],
  '/runbooks': ['showRunbooks', 'What to do about each alert; `/runbooks#RULE` is one of them', {}],
};

const names: Readonly<Record<string, string>> = {
  account: 'The name of the account.',
  id: 'The id.',
};

function inPathOf(path: string): readonly DescribedParameter[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => inPath(name, names[name] ?? ''));
}

function bracedPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

const text = { type: 'string' };
const list = { type: 'array', items: text };
const ofMailboxes = {
  do: { type: 'string', enum: ['pause', 'resume', 'mode', 'limit', 'contest-release'] },
  mode: { type: 'string', enum: warmupModes },
  limit: { type: 'integer', minimum: 1 },
};

/** What a command can be prepared with, by its path. */
const commands: Readonly<
  Record<(typeof commandPatterns)[number], Readonly<Record<string, DescribedParameter['schema']>>>
> = {
  '/mailboxes/:account/:id': ofMailboxes,
  '/mailboxes': { ...ofMailboxes, mailbox: { ...list, maxItems: 100 } },
  '/silences': {
    do: { type: 'string', enum: ['add', 'expire'] },
    rule: list,
    account: list,
    mailbox: list,
    domain: list,
    severity: { type: 'array', items: { type: 'string', enum: severities } },
    for: text,
    id: text,
  },
  '/writes': { do: { type: 'string', enum: ['off', 'on'] }, account: text, mailbox: text, for: text },
  '/breaker': { do: { type: 'string', enum: ['release'] } },
  '/activity': { do: { type: 'string', enum: ['undo'] }, since: text },
  '/deliveries': { do: { type: 'string', enum: ['resend'] }, channel: text, delivery: text },
};

const meanings: Readonly<Record<string, string>> = {
  do: 'Shows this command and its effect; nothing is changed.',
  mode: 'The warm-up mode to set.',
  limit: 'The target daily limit to set, in emails a day.',
  mailbox: 'ACCOUNT/ID; of a silence also a pattern.',
  rule: 'A rule, or a pattern such as `dns_*`.',
  account: 'An account, or a pattern.',
  domain: 'A domain, or a pattern.',
  severity: 'A severity.',
  for: 'How long, such as `30m`, `4h` or `2d`.',
  since: 'How far back, such as `1h`.',
  id: 'The id of the silence.',
  channel: 'All undelivered messages of this channel.',
  delivery: 'The message with this id.',
  reason: 'Fills in the reason.',
};

function preparedParameters(pattern: (typeof commandPatterns)[number]): readonly DescribedParameter[] {
  return Object.entries({ ...commands[pattern], reason: text }).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
    description: meanings[name] ?? '',
    repeated: true,
  }));
}

function isCommandPattern(path: string): path is (typeof commandPatterns)[number] {
  return commandPatterns.some((one) => one === path);
}

/** Commands of recipes: their forms are on pages that have no other command. */
const runCommands: Readonly<Record<string, readonly string[]>> = {
  '/recipes/:id': ['run'],
  '/runs/:id': ['apply', 'cancel'],
};

function commandsAt(path: string): readonly DescribedParameter[] {
  if (isCommandPattern(path)) return preparedParameters(path);
  const words = runCommands[path];
  if (words === undefined) return [];
  const description = 'Shows this command; nothing is changed.';
  return [
    { name: 'do', in: 'query', required: false, schema: { type: 'string', enum: words }, description, repeated: true },
  ];
}

const prepares =
  'With `do` it shows a command, its effect, and the form that carries it out. That needs the role operator, but for a run of a recipe.';

export const pageRoutes: readonly Described[] = [
  ...places.map(({ path, parameters }): Described => {
    const [id, summary, about] = pages[path] ?? ['', '', {}];
    const prepared = commandsAt(path);
    const query = inQuery({ ...parameters, ...refreshParameters }, { ...about, refresh: 'Pauses live updates.' });
    const known = new Set(query.map(({ name }) => name));
    return {
      route: `GET ${bracedPath(path)}`,
      id,
      tag: 'pages',
      summary,
      ...(prepared.length > 0 && { description: prepares }),
      access: 'viewer',
      parameters: [...inPathOf(path), ...query, ...prepared.filter(({ name }) => !known.has(name))],
      answers: { 200: { description: 'The page.', content: html } },
      refusals: [
        'bad_request',
        ...(path.includes(':') || prepared.length > 0 ? (['not_found'] as const) : []),
        ...(path.startsWith('/mailboxes') ? (['unknown_mailbox'] as const) : []),
        ...(prepared.length > 0 ? (['starting'] as const) : []),
      ],
    };
  }),
  ...(
    [
      ['csv', 'downloadCsv', { 'text/csv': z.string() }],
      ['json', 'downloadJson', { 'application/json': runWithRowsShape }],
    ] as const
  ).map(
    ([kind, id, content]): Described => ({
      route: `GET /runs/{id}/rows.${kind}`,
      id,
      tag: 'pages',
      summary: `All rows of a run, as a download in ${kind.toUpperCase()}`,
      access: 'viewer',
      parameters: [inPath('id', 'The id of the run.')],
      answers: {
        200: { description: 'The rows.', content, headers: { 'Content-Disposition': 'The name of the file.' } },
      },
      refusals: ['bad_request', 'not_found'],
    }),
  ),
  {
    route: 'GET /events',
    id: 'streamChanges',
    tag: 'pages',
    summary: 'What changes on a page, as server-sent events',
    description: `Continues until the client goes away. A client without \`since\`, or with one that is too old, first gets everything.

| event | \`data\` |
| --- | --- |
| \`patch\` | \`at\`: the time of the picture; \`title\` of the page, or \`null\`; \`pieces\`: HTML by the id of its element; \`lists\`: the ids of a list's items in their order, by the id of the list |
| \`beat\` | \`at\`: the page is as of this moment; at least every 15 seconds. With \`trouble\` it is not: \`gone\`: there is nothing at this address any more; \`failed\`: Warmwarden could not read what the page shows |

Up to 200 clients can listen. A client that leaves more than 512 KiB unread is disconnected; it reconnects and gets what it
missed in one piece.`,
    access: 'viewer',
    parameters: [
      ...inQuery(eventsParameters, {
        at: 'The path and query of the page, for example `/?state=held`.',
        since: 'The `id` of the newest event that the client has.',
      }),
      { name: 'Last-Event-ID', in: 'header', required: false, schema: text, description: 'The same as `since`.' },
    ],
    answers: { 200: { description: 'The stream.', content: { 'text/event-stream': z.string() } } },
    refusals: ['bad_request', 'too_many_readers'],
  },
  ...(
    [
      ['style.css', 'getStyle', 'The style of the pages', 'text/css'],
      ['icon.svg', 'getIcon', 'The icon of the pages', 'image/svg+xml'],
      ['local-times.js', 'getLocalTimes', "The script that shows times in the reader's time zone", 'text/javascript'],
      ['live.js', 'getLive', 'The script that updates pages live', 'text/javascript'],
    ] as const
  ).map(
    ([file, id, summary, type]): Described => ({
      route: `GET /assets/${file}`,
      id,
      tag: 'pages',
      summary,
      access: 'anybody',
      answers: { 200: { description: 'The file.', content: { [type]: z.string() } } },
    }),
  ),
];

const idOfPost: Readonly<
  Record<(typeof commandPatterns)[number], readonly [shown: string, sent: string, what: string]>
> = {
  '/mailboxes/:account/:id': ['', 'sendMailboxCommand', 'a command for this mailbox'],
  '/mailboxes': ['prepareMailboxCommands', 'sendMailboxCommands', 'a command for up to 100 mailboxes'],
  '/silences': ['', 'sendSilence', 'a silence, or its end'],
  '/writes': ['prepareWrites', 'sendWrites', 'the emergency stop, or its end'],
  '/breaker': ['prepareBreakerRelease', 'sendBreakerRelease', 'the release of the circuit breaker'],
  '/activity': ['', 'sendUndo', 'the undo of what Warmwarden did'],
  '/deliveries': ['prepareResend', 'sendResend', 'the resending of undelivered messages'],
};

const formToken = z.string().describe('From the page.');

const formShape = z
  .object({
    do: z.string(),
    reason: z.string().describe('For the audit log.'),
    plan: z.string().describe('The plan that the page showed: if it has changed, nothing happens.'),
    [formTokenField]: formToken,
  })
  .catchall(z.string());

export const commandRoutes: readonly Described[] = [
  ...commandPatterns.flatMap((pattern): readonly Described[] => {
    const [shown, sent, what] = idOfPost[pattern];
    const of = { tag: 'commands', access: 'form' } as const;
    const words = ['bad_request', 'not_found', 'starting'] as const;
    const post: Described = {
      ...of,
      route: `POST ${bracedPath(pattern)}`,
      id: sent,
      summary: `Carry out ${what}`,
      parameters: inPathOf(pattern),
      body: { type: 'application/x-www-form-urlencoded', required: true, shape: formShape },
      answers: {
        303: { description: 'It was carried out.', headers: { Location: 'Where its outcome is.' } },
        422: { description: 'Nothing was done: the form again, with what is missing.', content: html },
      },
      refusals: words,
    };
    if (shown === '') return [post];
    const get: Described = {
      ...of,
      route: `GET ${bracedPath(pattern)}`,
      id: shown,
      access: 'viewer',
      summary: `Show ${what}`,
      parameters: [...inPathOf(pattern), ...preparedParameters(pattern)],
      answers: { 200: { description: 'The command, its effect, and its form.', content: html } },
      refusals: words,
    };
    return [get, post];
  }),
  {
    route: 'POST /recipes/{id}',
    id: 'sendRun',
    tag: 'commands',
    summary: 'Start a run of a recipe; nothing is changed by it',
    access: 'form',
    parameters: [inPath('id', 'The id of the recipe.')],
    body: {
      type: 'application/x-www-form-urlencoded',
      required: true,
      shape: z
        .object({ [formTokenField]: formToken })
        .catchall(z.string().describe('`parameter.NAME`: a parameter of the recipe.')),
    },
    answers: { 303: { description: 'The run was accepted.', headers: { Location: 'The page of the run.' } } },
    refusals: ['bad_request', 'not_found', 'bad_parameters', 'share_used', 'busy'],
  },
  {
    route: 'POST /runs/{id}',
    id: 'sendRunCommand',
    tag: 'commands',
    summary: 'Carry out what this dry run showed, or end the run',
    access: 'form',
    parameters: [inPath('id', 'The id of the run.')],
    body: {
      type: 'application/x-www-form-urlencoded',
      required: true,
      shape: z.object({ do: z.enum(['apply', 'cancel']), [formTokenField]: formToken }),
    },
    answers: { 303: { description: 'It was done.', headers: { Location: 'The page of the run.' } } },
    refusals: ['bad_request', 'not_found', 'bad_parameters', 'share_used', 'pruned', 'busy'],
  },
  {
    route: 'GET /commands/{id}',
    id: 'showCommand',
    tag: 'commands',
    summary: 'The outcome of a command; the page reloads until everything is read back',
    access: 'viewer',
    parameters: [inPath('id', 'The id of the command.')],
    answers: { 200: { description: 'The outcome.', content: html } },
    refusals: ['bad_request', 'not_found'],
  },
];
