// PostgreSQL with a standby that lags by an hour, and the poolers of this machine before it, for .ci/clients: prints each address as a
// line of a shell, such as `at_pgbouncer=postgres://...`, with an empty database of its own. Runs until SIGTERM. A program that is
// missing has no line.
import { once } from 'node:events';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { isPgpoolInstalled, isPoolerInstalled, Pooler } from './poolers.ts';
import { TestPostgres } from './postgres.ts';
import { until } from './until.ts';

await using stack = new AsyncDisposableStack();
const primary = stack.use(await TestPostgres.own());
const standby = stack.use(await primary.standby());
// A pooler drops the search path.
await primary.query('ALTER ROLE warden SET search_path = warmwarden');
const balancing = (place: PostgresPlace, settings?: string) => Pooler.pgpool(place, standby.place(place), settings);
const before: Readonly<Record<string, (place: PostgresPlace) => Promise<Pooler>>> = {
  ...(isPoolerInstalled && { pgbouncer: (place) => Pooler.before(place) }),
  ...(isPgpoolInstalled && { pgpool: (place) => balancing(place, 'load_balance_mode = off'), balancing }),
};
const addressed = [];
for (const name of ['direct', ...Object.keys(before)]) addressed.push({ name, place: await primary.database() });
await until('the standby to have the databases', async () => {
  const found = await standby.query("SELECT FROM pg_database WHERE datname LIKE 'warmwarden_test_%'");
  return found.length === addressed.length;
});
await standby.query("ALTER SYSTEM SET recovery_min_apply_delay = '1h'");
await standby.query('SELECT pg_reload_conf()');
const lines = [];
for (const { name, place: direct } of addressed) {
  const { place } = before[name] ? stack.use(await before[name](direct)) : { place: direct };
  lines.push(`at_${name}=postgres://${place.user}@${place.host}:${place.port}/${place.database}\n`);
}
// All at once: the first line says that all are ready.
process.stdout.write(lines.join(''));
const alive = setInterval(() => {}, 60_000);
await once(process, 'SIGTERM');
clearInterval(alive);
