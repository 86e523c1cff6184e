// A real Pgpool-II before a primary and its standby, where it is installed (Debian's package pgpool2).
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { freePort } from './free-port.ts';
import { nobody } from './postgres.ts';
import { until } from './until.ts';

const program = '/usr/sbin/pgpool';
export const isPgpoolInstalled = existsSync(program);

/** The files that it needs, though they may be empty. */
const files = { hba: 'pool_hba.conf', pcp: 'pcp.conf', main: 'pgpool.conf' };

export class Pgpool implements AsyncDisposable {
  readonly place: PostgresPlace;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(place: PostgresPlace, folder: string) {
    this.place = place;
    this.#folder = folder;
    const path = (name: keyof typeof files) => join(folder, files[name]);
    const options = ['-n', '-f', path('main'), '-a', path('hba'), '-F', path('pcp')];
    this.#process = spawn(program, options, { ...nobody, cwd: folder, stdio: 'ignore' });
  }

  /** `settings`: further lines of its configuration. It sends nine of ten reads to the standby, unless they say otherwise. */
  static async before(primary: PostgresPlace, standby: PostgresPlace, settings = ''): Promise<Pgpool> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'warmwarden-pgpool-'));
    writeFileSync(join(folder, files.hba), '');
    writeFileSync(join(folder, files.pcp), '');
    writeFileSync(
      join(folder, files.main),
      `backend_clustering_mode = 'streaming_replication'
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
`,
    );
    chmodSync(folder, 0o755);
    if (nobody.uid !== undefined) chownSync(folder, nobody.uid, nobody.gid);
    const pgpool = new Pgpool({ ...primary, host: '127.0.0.1', port }, folder);
    await until('Pgpool-II to know the primary', () => pgpool.#knowsPrimary());
    return pgpool;
  }

  async #knowsPrimary(): Promise<boolean> {
    const { host, port, user, database } = this.place;
    const client = new pg.Client({ host, port, user, database });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ role: string; status: string }>('SHOW pool_nodes');
      return rows.map(({ role, status }) => `${role} ${status}`).join() === 'primary up,standby up';
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, 'exit');
    // Its children outlive it otherwise.
    this.#process.kill('SIGINT');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
