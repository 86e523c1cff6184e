// Real poolers before a PostgreSQL, where they are installed: PgBouncer, which pools transactions (Debian's package pgbouncer), and
// Pgpool-II before a primary and its standby (pgpool2).
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { freePort } from './free-port.ts';
import { nobody, rowsAt } from './postgres.ts';
import { until } from './until.ts';

const [pgBouncer, pgpool] = ['/usr/sbin/pgbouncer', '/usr/sbin/pgpool'];
export const isPoolerInstalled = existsSync(pgBouncer);
export const isPgpoolInstalled = existsSync(pgpool);

/** Files of a pooler by name, and how it is called in their folder. */
interface Start {
  readonly files: Readonly<Record<string, string>>;
  readonly command: readonly [program: string, ...options: string[]];
  /** Pgpool's children outlive a SIGKILL. */
  readonly end: NodeJS.Signals;
}

export class Pooler implements AsyncDisposable {
  readonly place: PostgresPlace;
  readonly #folder: string;
  readonly #end: NodeJS.Signals;
  readonly #process: ChildProcess;

  private constructor(place: PostgresPlace, folder: string, { files, command: [program, ...options], end }: Start) {
    this.place = place;
    this.#folder = folder;
    this.#end = end;
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    chmodSync(folder, 0o755);
    if (nobody.uid !== undefined) chownSync(folder, nobody.uid, nobody.gid);
    this.#process = spawn(program, options, { ...nobody, cwd: folder, stdio: 'ignore' });
  }

  /** PgBouncer. `settings`: further lines of its configuration. */
  static async before(target: PostgresPlace, settings = ''): Promise<Pooler> {
    const port = await freePort();
    const main = `[databases]
* = host=${target.host} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = users.txt
pool_mode = transaction
${settings}
`;
    const files = { 'users.txt': `"${target.user}" ""\n`, 'pgbouncer.ini': main };
    const pooler = new Pooler({ ...target, host: '127.0.0.1', port }, newFolder(), {
      ...{ files, command: [pgBouncer, 'pgbouncer.ini'], end: 'SIGKILL' },
    });
    await until('PgBouncer to answer', async () => (await pooler.#asked('SELECT 1')).length > 0);
    return pooler;
  }

  /** Pgpool-II. It sends nine of ten reads to the standby, unless `settings`, further lines of its configuration, say otherwise. */
  static async pgpool(primary: PostgresPlace, standby: PostgresPlace, settings = ''): Promise<Pooler> {
    const port = await freePort();
    const folder = newFolder();
    const main = `backend_clustering_mode = 'streaming_replication'
listen_addresses = '127.0.0.1'
port = ${port}
pcp_port = ${await freePort()}
socket_dir = '${folder}'
pcp_socket_dir = '${folder}'
pid_file_name = '${join(folder, 'pgpool.pid')}'
logdir = '${folder}'
work_dir = '${folder}'
num_init_children = 12
backend_hostname0 = '${primary.host}'
backend_port0 = ${primary.port}
backend_weight0 = 1
backend_hostname1 = '${standby.host}'
backend_port1 = ${standby.port}
backend_weight1 = 9
sr_check_user = '${primary.user}'
sr_check_period = 1
${settings}
`;
    // It needs the other files, though they may be empty.
    const files = { 'pool_hba.conf': '', 'pcp.conf': '', 'pgpool.conf': main };
    const pooler = new Pooler({ ...primary, host: '127.0.0.1', port }, folder, {
      ...{
        files,
        command: [pgpool, '-n', '-f', 'pgpool.conf', '-a', 'pool_hba.conf', '-F', 'pcp.conf'],
        end: 'SIGINT',
      },
    });
    await until('Pgpool-II to know the primary', async () => {
      const nodes = await pooler.#asked('SHOW pool_nodes');
      return nodes.map(({ role, status }) => `${role} ${status}`).join() === 'primary up,standby up';
    });
    return pooler;
  }

  /** Rows of the answer; none while it does not answer. */
  #asked(text: string): Promise<readonly Record<string, unknown>[]> {
    return rowsAt(this.place, text).catch(() => []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill(this.#end);
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const newFolder = () => mkdtempSync(join(tmpdir(), 'warmwarden-pooler-'));
