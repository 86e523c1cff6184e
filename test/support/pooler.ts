// A real PgBouncer that pools transactions before a PostgreSQL, where it is installed (Debian's package pgbouncer).
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { freePort } from './free-port.ts';
import { nobody } from './postgres.ts';
import { until } from './until.ts';

const program = '/usr/sbin/pgbouncer';
export const isPoolerInstalled = existsSync(program);

export class Pooler implements AsyncDisposable {
  readonly place: PostgresPlace;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(place: PostgresPlace, folder: string) {
    this.place = place;
    this.#folder = folder;
    this.#process = spawn(program, [join(folder, 'pgbouncer.ini')], { ...nobody, stdio: 'ignore' });
  }

  /** `settings`: further lines of its configuration. */
  static async before(target: PostgresPlace, settings = ''): Promise<Pooler> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'warmwarden-pooler-'));
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'users.txt'), `"${target.user}" ""\n`);
    writeFileSync(
      join(folder, 'pgbouncer.ini'),
      `[databases]
* = host=${target.host} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
${settings}
`,
    );
    const pooler = new Pooler({ ...target, host: '127.0.0.1', port }, folder);
    await until('PgBouncer to listen', () => isOpen(port));
    return pooler;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
