import createClient from 'openapi-fetch';
import type { paths } from './api.ts';

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' });
const { data } = await client.GET('/api/fleet', { params: { query: { limit: 1 } } });
const [first] = data?.mailboxes ?? [];
if (!data || !first) throw new Error('no mailbox');
const one = await client.GET('/api/explain', { params: { query: { mailbox: `${first.account}/${first.id}` } } });
// Compiles only if `apply` and `plan` may be left out; the demo has no key.
const run = await client.POST('/v1/recipes/{id}/runs', { params: { path: { id: 'at-risk' } }, body: {} });
if (one.data?.mailbox.email !== first.email || run.response.status !== 401) throw new Error(`${run.response.status}`);
process.stdout.write(`${data.total} mailboxes, ${first.email}\n`);
