// The files that are made of the sources, with their texts.
import { fileURLToPath } from 'node:url';
import { cliJsonText, cliText } from './cli.ts';
import { configurationText } from './configuration.ts';
import { editorSchemaText } from './editor-schema.ts';
import { exampleText } from './example.ts';
import { httpApiText, openApiText } from './http-api.ts';
import { licensesText } from './licenses.ts';
import { messagesText, samplesText } from './messages.ts';
import { prometheusRuleText } from './prometheus-rule.ts';
import { recipesText, recipeViewsText } from './recipes.ts';
import { runbooksText } from './runbooks.ts';

/** By absolute path. */
export async function generated(): Promise<ReadonlyMap<string, string>> {
  const at = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
  return new Map([
    [at('config.schema.json'), editorSchemaText()],
    [at('config.example.yaml'), exampleText()],
    [at('docs/configuration.md'), configurationText()],
    [at('docs/runbooks.md'), runbooksText()],
    [at('docs/cli.md'), await cliText()],
    [at('docs/cli-json.md'), cliJsonText()],
    [at('docs/http-api.md'), httpApiText()],
    [at('docs/openapi.json'), openApiText()],
    [at('docs/licenses.md'), licensesText()],
    [at('docs/messages.md'), messagesText()],
    [at('src/channels/samples.json'), samplesText()],
    [at('docs/recipes.md'), recipesText()],
    [at('docs/recipe-views.md'), recipeViewsText()],
    [at('docs/install/kubernetes/monitoring/prometheus-rule.yaml'), prometheusRuleText()],
  ]);
}
