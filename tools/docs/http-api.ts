// docs/http-api.md and docs/openapi.json: the routes as they are described in src/web/json and src/web/recipes.
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { type OperationName, operationNames, operationShapes } from '../../src/operations/command-requests.ts';
import {
  type DescribedParameter,
  describedRoutes,
  openApiDocument,
  parametersOf,
  templateOf,
} from '../../src/web/json/document.ts';
import type { Described } from '../../src/web/json/route.ts';
import { refusals } from '../../src/web/refusals.ts';
import { version } from '../../src/world/version.ts';
import { shapeTable, sharedShapes } from './json-shape.ts';

/** `{{...}}` stands for what is made here. */
const template = readFileSync(new URL('http-api-template.md', import.meta.url), 'utf8');

export function httpApiText(): string {
  const parts: Readonly<Record<string, string>> = {
    refusals: refusalTable(),
    probes: routeTable('probes'),
    recipes: routeTable('recipes'),
    fleet: routesOf('fleet').map(answerText).join('\n'),
    operations: operationsTable(),
    shapes: shapesText(),
  };
  return template.replace(/\{\{([a-z ]+)\}\}\n/g, (_all, name: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`http-api-template.md: there is no ${name}`);
    return `${part.trimEnd()}\n`;
  });
}

export function openApiText(): string {
  return `${JSON.stringify(openApiDocument({ version, server: 'http://127.0.0.1:7025' }), null, 2)}\n`;
}

function routesOf(tag: Described['tag']): readonly Described[] {
  return describedRoutes.filter((one) => one.tag === tag);
}

function refusalTable(): string {
  const rows = Object.entries(refusals).map(
    ([word, { status, meaning }]) => `| ${status} | \`${word}\` | ${meaning} |`,
  );
  return `| code | \`error\` | meaning |\n| --- | --- | --- |\n${rows.join('\n')}`;
}

function routeTable(tag: Described['tag']): string {
  const rows = routesOf(tag).map((described) => {
    const query = Object.keys(described.query ?? {}).map((name) => `\`${name}\``);
    return `| \`${templateOf(described)}\` | ${described.summary} | ${query.join(', ')} |`;
  });
  return `| route | does | query |\n| --- | --- | --- |\n${rows.join('\n')}`;
}

function parameterTable(parameters: readonly DescribedParameter[]): string {
  if (parameters.length === 0) return 'It takes no query.';
  const rows = parameters.map(
    ({ name, required, schema, description }) =>
      `| \`${name}\`${required ? ' (required)' : ''} | ${wanted(schema)} | ${description} |`,
  );
  return `| parameter | is | meaning |\n| --- | --- | --- |\n${rows.join('\n')}`;
}

function wanted(schema: DescribedParameter['schema']): string {
  const { type, enum: words, items, minimum, maximum, maxLength, format } = schema;
  if (Array.isArray(words)) return words.map((word) => `\`${word}\``).join(', ');
  if (typeof items === 'object' && items !== null) return wanted({ ...items });
  if (type === 'integer') return `${minimum} to ${maximum}`;
  if (format === 'date-time') return 'time';
  return maxLength === undefined ? 'text' : `text, up to ${maxLength} characters`;
}

function shapeOf({ answers }: Described): z.ZodType | undefined {
  return answers[200]?.content?.['application/json'];
}

const email = 'jonas.keller@brightpath.example';

function answerText(described: Described): string {
  const { summary, description } = described;
  const parameters = parametersOf(described);
  const route = templateOf(described);
  const [, path = ''] = route.split(' ');
  const shape = shapeOf(described);
  const asked = path.replace('{account}', 'agency').replace('{id}', '908a799e-10d0-4eb2-aef3-38c95f830516');
  const query = parameters.some(({ name, required }) => name === 'mailbox' && required) ? `?mailbox=${email}` : '';
  return `### ${route}

${summary}.${description ? ` ${description}` : ''}

${parameterTable(parameters)}

\`\`\`sh
curl -s -H "Authorization: Bearer $TOKEN" "$URL${asked}${query}"
\`\`\`

${shape ? shapeTable(shape) : ''}
`;
}

/** What every operation takes, and nobody needs to look up in a table. */
const common: readonly string[] = ['by', 'reason', 'dry_run', 'plan'];

function operationsTable(): string {
  const rows = routesOf('operations').map(({ route, summary, body, query = {} }) => {
    const named = body
      ? Object.keys(operationShapes[nameIn(route)].shape)
      : Object.keys(query).map((name) => `?${name}`);
    const own = named.filter((name) => !common.includes(name)).map((name) => `\`${name}\``);
    return `| \`${route}\` | ${summary} | ${own.join(', ')} |`;
  });
  return `| route | does | takes |\n| --- | --- | --- |\n${rows.join('\n')}`;
}

function nameIn(route: string): OperationName {
  const name = operationNames.find((one) => route.endsWith(`/${one}`));
  if (!name) throw new Error(`${route} is no operation`);
  return name;
}

function shapesText(): string {
  const all = describedRoutes.flatMap((one) => shapeOf(one) ?? []);
  return sharedShapes(all)
    .map(({ id, description, table }) => [`### ${id}`, description, table].join('\n\n'))
    .join('\n\n');
}
