// docs/http-api.md and docs/openapi.json: the routes as they are described in src/web/json and src/web/recipes.
import { readFileSync } from 'node:fs';
import { describedRoutes, openApiDocument, templateOf } from '../../src/web/json/document.ts';
import { refusals } from '../../src/web/refusals.ts';
import { version } from '../../src/world/program.ts';

/** `{{...}}` stands for what is made here. */
const template = readFileSync(new URL('http-api-template.md', import.meta.url), 'utf8');

export function httpApiText(): string {
  return template.replace('{{refusals}}', refusalTable).replace('{{routes}}', routeTable);
}

export function openApiText(): string {
  return `${JSON.stringify(openApiDocument({ version, server: 'http://127.0.0.1:7025' }), null, 2)}\n`;
}

function refusalTable(): string {
  const byStatus = Map.groupBy(Object.entries(refusals), ([, { status }]) => status);
  const rows = [...byStatus].map(
    ([status, words]) => `| ${status} | ${words.map(([word]) => `\`${word}\``).join(', ')} |`,
  );
  return `| code | \`error\` |\n| --- | --- |\n${rows.join('\n')}`;
}

function routeTable(): string {
  const rows = describedRoutes.map((route) => `| \`${templateOf(route)}\` | ${route.summary} |`);
  return `| route | what |\n| --- | --- |\n${rows.join('\n')}`;
}
