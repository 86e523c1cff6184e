// docs/recipes.md: how to write and run recipes, the built-in ones, and the views, from the sources.
import type { Recipe } from '../../src/core/recipe.ts';
import { readCatalogue } from '../../src/recipes/catalogue.ts';
import { usualLimits } from '../../src/recipes/execution.ts';
import { views } from '../../src/recipes/views.ts';
import { usualRoom } from '../../src/store/runs.ts';

const { definitions } = await readCatalogue('/nowhere');

const cell = (text: string) => text.replaceAll('|', '\\|');

function recipeRow({ id, description, parameters, operation }: Recipe): string {
  const asked = parameters.map(({ name, required }) => (required ? `\`${name}\`` : `[\`${name}\`]`)).join(' ');
  return `| \`${id}\` | ${cell(description)} | ${asked} | ${operation ?? ''} |`;
}

const viewSections = views.map(({ name, about, columns }) => {
  const rows = columns.map((column) => `| \`${column.name}\` | ${cell(column.about)} |`);
  return [`### ${name}`, '', about, '', '| column | holds |', '| --- | --- |', ...rows].join('\n');
});

export function recipesText(): string {
  const shipped = [...definitions.values()].map(({ recipe }) => recipeRow(recipe)).sort();
  return `# Recipes

<!-- Written by \`npm run docs\`. Edit tools/docs/recipes.ts, the recipes in src/recipes/built-in and src/recipes/views.ts. -->

A recipe is a saved question about the fleet, optionally with an action for the mailbox of each row of the answer.

\`\`\`sh
warmwarden recipes list
warmwarden recipes run at-risk --param bounces=3          # --json, --csv
warmwarden recipes run pause-domain --param domain=one.example           # only the plan
warmwarden recipes run pause-domain --param domain=one.example --apply   # shows the plan and asks
\`\`\`

The command asks the running daemon, which keeps the run. Without a daemon it exits with 1. Without a terminal, \`--apply\` needs \`--yes\`.

## The recipes that ship

| id | what it shows or does | parameters, [optional] | does |
| --- | --- | --- | --- |
${shipped.join('\n')}

\`resume-ours\` resumes only what Warmwarden paused by itself. What a person paused, also through Warmwarden or \`pause-domain\`,
only a person resumes: \`warmwarden resume\`.

## Your own

A YAML file in \`recipes.directory\` is available at once, without a restart. A recipe with the id of a built-in recipe
replaces it. A file with a mistake does not affect other recipes: \`recipes list\` lists every mistake with its line and
column.

\`\`\`yaml
id: quiet-google                 # lowercase letters, digits, single dashes
title: Google mailboxes that hardly send
description: For Monday mornings.
parameters:
  emails: {type: integer, description: Fewer emails than this in the window., default: 20, minimum: 1}
  account: {type: string, description: Only this account., optional: true}     # the SELECT sees NULL
select: |                        # one SELECT of SQLite over the views below; :now is the moment of the run
  SELECT account, mailbox_id, email, sent FROM mailboxes
  WHERE provider = 'google' AND mode = 'balanced' AND state = 'ok' AND sent < :emails
    AND (:account IS NULL OR account = :account)
do:                              # optional: what to do with the mailbox of each row
  operation: mode                # pause, resume, mode, refresh, silence
  mode: slow                     # for mode; silence has \`for: 4h\`
  reason: it hardly sends
schedule:                        # optional; never with resume
  cron: "0 8 * * 1"
  time_zone: Europe/Berlin
  apply: false                   # true: scheduled runs do it
\`\`\`

Warmwarden checks the schedules once a minute. After a downtime it makes up for the runs that it missed, each recipe once. A scheduled run that
changes mailboxes is not made more than an hour late: it is listed as failed, with the time at which it was due. A day of the month and a day of the
week in one schedule must both fit. The types of parameters
are string (with \`one_of\`), integer and number (with \`minimum\`, \`maximum\`) and boolean. With \`names: mailbox\` (or account, or
domain), a run that finds no rows fails when nothing that Warmwarden guards has the name that it is given: a mistyped name is not an
answer. \`do:\` needs the columns \`account\` and
\`mailbox_id\`, and adds \`operation\`, \`outcome\` (planned, done, failed, skipped) and \`message\`. It works like every other operator
command: within the rate limit, subject to the emergency stop, read back, and recorded in the audit log with the name of the caller.

A SELECT runs in a process of its own that can read the views and nothing else. It is stopped after
${usualLimits.selectMs / 1_000} s. A run keeps at most ${usualLimits.rows.toLocaleString('en')} rows and ${usualLimits.bytes / 1024 / 1024} MiB, and says \`truncated\` when there were more. With \`do:\`,
more than ${usualLimits.operationRows.toLocaleString('en')} mailboxes are refused before anything is done. Runs are kept for \`retention.runs\`,
but at most ${usualRoom.ownerBytes / 1024 / 1024} MiB per key and ${usualRoom.bytes / 1024 / 1024} MiB in all: the oldest runs that have ended are deleted first.

## Over HTTP

\`warmwarden token new NAME --recipe-key --plan pro --role viewer\` makes a key; the configuration keeps its SHA-256. [The HTTP API](http-api.md#routes) has all routes.

\`\`\`sh
curl -H "Authorization: Bearer $KEY" http://127.0.0.1:7025/v1/recipes
curl -H "Authorization: Bearer $KEY" -d '{"parameters": {"bounces": 3}}' http://127.0.0.1:7025/v1/recipes/at-risk/runs
curl -H "Authorization: Bearer $KEY" http://127.0.0.1:7025/v1/runs/ID               # ?offset=0&limit=500 for a page
curl -H "Authorization: Bearer $KEY" -H "Accept: text/csv" http://127.0.0.1:7025/v1/runs/ID
\`\`\`

The plans pro, cloud and agency allow 60, 600 and 6,000 requests a minute per key. Further requests get 429 with Retry-After.
Wrong keys are slowed down in the same way as [wrong tokens](access.md#signing-in). \`apply: true\` needs a key with the
role operator. Rows contain text that strangers wrote: treat it as data. In CSV, texts that begin like a formula get an
apostrophe, and control characters are made visible.

## The views

Times are ISO 8601 in UTC; unknown values are NULL.

${viewSections.join('\n\n')}
`;
}
