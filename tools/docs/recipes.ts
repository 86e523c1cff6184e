// docs/recipes.md: how to write and run recipes, and the built-in ones. docs/recipe-views.md: the views, from the sources.
import type { Recipe } from '../../src/core/recipe.ts';
import { readCatalogue } from '../../src/recipes/catalogue.ts';
import { usualLimits } from '../../src/recipes/execution.ts';
import { views } from '../../src/recipes/views.ts';
import { usualRoom } from '../../src/store/runs.ts';

const { definitions } = await readCatalogue('/nowhere');

const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

function recipeRow({ id, title, parameters, operation }: Recipe): string {
  const asked = parameters.map(({ name, required }) => (required ? `\`${name}\`` : `[\`${name}\`]`)).join(' ');
  return `| \`${id}\` | ${title} | ${asked} | ${operation ?? ''} |`;
}

/** Ends with a line break. */
export function recipesText(): string {
  const shipped = [...definitions.values()].map(({ recipe }) => recipeRow(recipe)).sort();
  return `# Recipes

<!-- Written by \`npm run docs\`. Edit tools/docs/recipes.ts, and the recipes in src/recipes/built-in. -->

A recipe is a saved question about the fleet. It can also do something with the mailbox of each row.

\`\`\`sh
warmwarden recipes list                                                  # what each shows, and its parameters
warmwarden recipes run at-risk --param bounces=3                         # --json, --csv
warmwarden recipes run pause-domain --param domain=one.example           # only shows the plan
warmwarden recipes run pause-domain --param domain=one.example --apply   # shows the plan and asks
\`\`\`

The page shows recipes and their runs, too. The running daemon runs them.

## Built-in recipes

| id | title | parameters, [optional] | does |
| --- | --- | --- | --- |
${shipped.join('\n')}

\`resume-ours\` resumes only what Warmwarden paused by itself. Where a person paused the warm-up, use \`warmwarden resume\`.

## Your own recipe

Put a YAML file into \`recipes.directory\`. It works at once, and replaces a built-in recipe with the same id. \`recipes list\` shows every
mistake with its line.

\`\`\`yaml
id: quiet-google                 # lowercase letters, digits, single dashes
title: Google mailboxes that hardly send
description: For Monday mornings.
parameters:
  emails: {type: integer, description: Fewer emails than this in the window., default: 20, minimum: 1}
  account: {type: string, names: account, description: Only this account., optional: true}     # NULL if left out
select: |                        # one SELECT of SQLite; :now is the moment of the run
  SELECT account, mailbox_id, email, sent FROM mailboxes
  WHERE provider = 'google' AND mode = 'balanced' AND state = 'ok' AND sent < :emails
    AND (:account IS NULL OR account = :account)
do:                              # optional
  operation: mode                # pause, resume, mode, refresh, silence
  mode: slow                     # for mode; silence has \`for: 4h\`
  reason: it hardly sends
schedule:                        # optional; never with resume
  cron: "0 8 * * 1"
  time_zone: Europe/Berlin
  apply: false                   # true: scheduled runs do it
\`\`\`

- **SELECT** reads the [views](recipe-views.md) and nothing else.
- **Parameters** are \`string\` (with \`one_of\`), \`integer\` or \`number\` (with \`minimum\` and \`maximum\`), or \`boolean\`. \`names: mailbox\`, \`account\` or
  \`domain\` makes an unknown name an error instead of an empty answer.
- **\`do:\`** needs the columns \`account\` and \`mailbox_id\`, and adds \`operation\`, \`outcome\` (planned, done, failed, skipped) and \`message\`. The
  write stop and the rate limit apply. The audit log names the caller.
- **Schedules** are checked once a minute. After a downtime, each recipe makes up for one missed run. An hour that occurs twice, when
  clocks go back, has one run. A run that changes mailboxes fails instead if
  it is more than an hour late.

| limit | value |
| --- | --- |
| time of a SELECT | ${usualLimits.selectMs / 1_000} s |
| rows of a run; \`truncated\` says if there were more | ${usualLimits.rows.toLocaleString('en')}, ${mebibytes(usualLimits.bytes)} |
| mailboxes that one run changes; more are refused | ${usualLimits.operationRows.toLocaleString('en')} |
| kept runs, the newest | \`retention.messages\`, ${mebibytes(usualRoom.ownerBytes)} a key, ${mebibytes(usualRoom.bytes)} in all |

## Over HTTP

\`\`\`sh
warmwarden token new NAME --recipe-key --plan pro --role viewer   # prints the key, and the lines for recipes.api_keys
V1=http://127.0.0.1:7025/v1
curl -H "Authorization: Bearer $KEY" $V1/recipes
curl -H "Authorization: Bearer $KEY" -d '{"parameters": {"bounces": 3}}' $V1/recipes/at-risk/runs
curl -H "Authorization: Bearer $KEY" "$V1/runs/ID?offset=0&limit=500"
curl -H "Authorization: Bearer $KEY" -H "Accept: text/csv" $V1/runs/ID
\`\`\`

The plans \`pro\`, \`cloud\` and \`agency\` allow 60, 600 and 6,000 requests a minute per key. Further requests get 429 with \`Retry-After\`. \`"apply": true\`
needs a key with the role \`operator\`. [HTTP API](http-api.md#routes) lists the routes.

Strangers wrote some of the text in the rows: treat it as data. CSV has an apostrophe before text that looks like a formula.
`;
}

/** A question to each view, which a test asks. */
const examples: Readonly<Record<string, string>> = {
  mailboxes: `SELECT email, mode, rate_percent, bounces_until_breach, stats_age_minutes
FROM mailboxes WHERE state IN ('near_limit', 'not_judged')
ORDER BY bounces_until_breach`,
  mailbox_tags: `SELECT t.value AS client, count(*) AS mailboxes, sum(m.bounced) AS bounced
FROM mailbox_tags t JOIN mailboxes m USING (account, mailbox_id)
WHERE t.tag = 'client' GROUP BY t.value`,
  daily_stats: `SELECT date, sum(sent) AS sent, sum(bounced) AS bounced
FROM daily_stats WHERE date >= date(:now, '-14 days')
GROUP BY date ORDER BY date`,
  dns_checks: `SELECT DISTINCT domain, record, status, value
FROM dns_checks WHERE result = 'fail'`,
  blacklist_checks: `SELECT ip, lists, count(*) AS mailboxes
FROM blacklist_checks WHERE listed = 'yes' GROUP BY ip, lists`,
  decisions: `SELECT email, since, action, reason, bounced, sent
FROM decisions WHERE action <> 'none' AND since >= date(:now, '-7 days')`,
  actions: `SELECT kind, state, count(*) AS actions
FROM actions WHERE planned_at >= date(:now, '-30 days') GROUP BY kind, state`,
  pauses: `SELECT email, explanation FROM pauses ORDER BY email`,
  deliveries: `SELECT channel, title, detail FROM deliveries
WHERE state = 'undelivered' ORDER BY settled_at DESC`,
};

/** Ends with a line break. */
export function recipeViewsText(): string {
  const lineOf = ({ name, about }: { readonly name: string; readonly about: string }) => `| \`${name}\` | ${about} |`;
  const lines = views.flatMap(({ columns }) => columns.map(lineOf));
  const shared = new Set(lines.filter((line, index) => lines.indexOf(line) !== index));
  const table = (rows: Iterable<string>) => ['| column | holds |', '| --- | --- |', ...rows].join('\n');
  const sections = views.map(({ name, about, columns }) => {
    const named = columns.filter((column) => shared.has(lineOf(column))).map((column) => `\`${column.name}\``);
    const own = columns.map(lineOf).filter((line) => !shared.has(line));
    const also = named.length === 0 ? '' : `\n\nIn common: ${named.join(', ')}.`;
    return `## ${name}\n\n${about}${also}\n\n${table(own)}\n\n\`\`\`sql\n${examples[name] ?? ''}\n\`\`\`\n`;
  });
  return `# Views of recipes

<!-- Written by \`npm run docs\`. Edit src/recipes/views.ts. -->

The SELECT of a [recipe](recipes.md) reads these views. Times are ISO 8601 in UTC. Unknown values are NULL.
Where the API answers the same again, \`stats_at\` is the last reading; other times of reading are up to an hour older.

## Columns in common

${table(shared)}

${sections.join('\n')}`;
}
