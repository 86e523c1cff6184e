// PostgreSQL with a standby that lags by an hour, and the poolers of this machine before it: prints each address as a line of a shell,
// such as `at_pgbouncer=postgres://...`, with an empty database of its own. Runs until SIGTERM. A program that is missing has no line.
import { once } from 'node:events';
import { isPgpoolInstalled, Pgpool } from '../test/support/pgpool.ts';
import { isPoolerInstalled, Pooler } from '../test/support/pooler.ts';
import { TestPostgres } from '../test/support/postgres.ts';
import { until } from '../test/support/until.ts';

await using stack = new AsyncDisposableStack();
const primary = stack.use(await TestPostgres.own());
const standby = stack.use(await primary.standby());
// A pooler drops the search path.
await primary.query('ALTER ROLE warden SET search_path = warmwarden');
const names = [
  'direct',
  ...(isPoolerInstalled ? ['pgbouncer'] : []),
  ...(isPgpoolInstalled ? ['pgpool', 'balancing'] : []),
];
const databases = [];
for (const _ of names) databases.push(await primary.database());
await until('the standby to have the databases', async () => {
  const found = await standby.query("SELECT FROM pg_database WHERE datname LIKE 'warmwarden_test_%'");
  return found.length === names.length;
});
await standby.query("ALTER SYSTEM SET recovery_min_apply_delay = '1h'");
await standby.query('SELECT pg_reload_conf()');
const before = {
  direct: async (place) => ({ place, [Symbol.asyncDispose]: async () => {} }),
  pgbouncer: (place) => Pooler.before(place),
  pgpool: (place) => Pgpool.before(place, standby.place(place), 'load_balance_mode = off'),
  balancing: (place) => Pgpool.before(place, standby.place(place)),
};
const lines = [];
for (const [index, name] of names.entries()) {
  const { place } = stack.use(await before[name](databases[index]));
  lines.push(`at_${name}=postgres://${place.user}@${place.host}:${place.port}/${place.database}\n`);
}
process.stdout.write(lines.join(''));
const alive = setInterval(() => {}, 60_000);
await once(process, 'SIGTERM');
clearInterval(alive);
