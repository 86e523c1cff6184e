// The OpenAPI 3.1 document of the recipe routes, from the shapes that the answers are typed by.
import { OpenAPIHono, z } from '@hono/zod-openapi';
import { recipeShape, refusalShape, runRequestShape, runShape, runWithRowsShape } from './recipe-json.ts';

const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
const refusal = (description: string) => ({ description, content: json(refusalShape) });
const idOf = (what: string) => z.object({ id: z.string().describe(`The id of the ${what}.`) });

const refusals = {
  401: refusal('The key is missing or unknown.'),
  429: {
    ...refusal("The plan's requests for this minute are used up."),
    headers: z.object({ 'Retry-After': z.string().describe('Whole seconds.') }),
  },
};
const limits = z.object({
  'X-RateLimit-Limit': z.string().describe('Requests a minute.'),
  'X-RateLimit-Remaining': z.string().describe('How many of them are left.'),
});
const paging = z.object({
  offset: z.coerce.number().int().min(0).optional().describe('The first row; 0 when left out.'),
  limit: z.coerce.number().int().min(1).optional().describe('How many rows at most; all when left out.'),
});

export function openApiDocument(version: string) {
  const app = new OpenAPIHono();
  const { openAPIRegistry: registry } = app;
  registry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: 'A key of `warmwarden token new NAME --recipe-key`, kept as SHA-256 under recipes.api_keys.',
  });
  const common = { tags: ['recipes'], security: [{ key: [] }] };
  registry.registerPath({
    ...common,
    method: 'get',
    path: '/v1/recipes',
    summary: 'The saved recipes',
    responses: {
      200: {
        description: 'All recipes, and the files that are not valid recipes.',
        headers: limits,
        content: json(
          z.object({
            recipes: z.array(recipeShape),
            broken: z.array(z.object({ file: z.string(), problems: z.array(z.string()) })),
          }),
        ),
      },
      ...refusals,
    },
  });
  registry.registerPath({
    ...common,
    method: 'post',
    path: '/v1/recipes/{id}/runs',
    summary: 'Trigger a run',
    request: { params: idOf('recipe'), body: { required: false, content: json(runRequestShape) } },
    responses: {
      202: {
        description: 'The run was accepted; Location names it.',
        headers: limits.extend({ Location: z.string() }),
        content: json(runShape),
      },
      400: refusal('The body or a parameter is wrong.'),
      403: refusal('apply: true needs the role operator.'),
      404: refusal('There is no such recipe.'),
      503: refusal('Too many runs are waiting.'),
      ...refusals,
    },
  });
  registry.registerPath({
    ...common,
    method: 'get',
    path: '/v1/recipes/{id}/runs',
    summary: "A recipe's runs, the newest first",
    request: { params: idOf('recipe'), query: paging.pick({ limit: true }) },
    responses: {
      200: { description: 'Without rows.', headers: limits, content: json(z.object({ runs: z.array(runShape) })) },
      400: refusal('limit is wrong.'),
      404: refusal('There is no such recipe.'),
      ...refusals,
    },
  });
  registry.registerPath({
    ...common,
    method: 'get',
    path: '/v1/runs/{id}',
    summary: 'A run with its rows',
    request: { params: idOf('run'), query: paging },
    responses: {
      200: {
        description: 'JSON, or CSV by Accept.',
        headers: limits,
        content: { ...json(runWithRowsShape), 'text/csv': { schema: z.string() } },
      },
      400: refusal('offset or limit is wrong.'),
      404: refusal('There is no such run.'),
      410: refusal('The run was deleted: it is older than retention.runs, or newer runs needed its space.'),
      ...refusals,
    },
  });
  registry.registerPath({
    ...common,
    method: 'post',
    path: '/v1/runs/{id}/cancel',
    summary: 'Cancel a run; what it has changed stays changed',
    request: { params: idOf('run') },
    responses: {
      200: { description: 'The run as it is now.', headers: limits, content: json(runShape) },
      403: refusal("Another key's run needs the role operator."),
      404: refusal('There is no such run.'),
      410: refusal('The run was deleted: it is older than retention.runs, or newer runs needed its space.'),
      ...refusals,
    },
  });
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Warmwarden: recipes', version, description: 'Saved questions about the fleet, and their answers.' },
  });
}
