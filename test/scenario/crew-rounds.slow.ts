// Rounds of what can befall an active process and its standbys, at moments nobody chose, while mailboxes breach and people command: kill -9, a freeze
// beyond the deadline, a database that is out of reach, a cut connection, a lost COMMIT, a lost reply, a restart. Nothing twice, nothing lost.
// WARMWARDEN_ROUNDS: how many in all, 4 by default; WARMWARDEN_SEED=N draws the same again (not the machine's moments).
import { afterAll, beforeAll, describe, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { Crew } from '../support/crew.ts';
import { TestPostgres } from '../support/postgres.ts';
import { Play } from './crew-play.ts';

const seed = Number(process.env['WARMWARDEN_SEED'] ?? Date.now() % 1_000_000);
const rounds = Number(process.env['WARMWARDEN_ROUNDS'] ?? 4);
/** A round mostly waits for a takeover: so crews, with a database each, play side by side. */
const crews = rounds >= 20 ? 4 : 2;
const accounts = ['a', 'b', 'c', 'd'];

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

describe.concurrent('an active process and its standbys through kills, freezes, outages, cuts, lost COMMITs and restarts', () => {
  test.each(Array.from({ length: crews }, (_, index) => index))(
    `do nothing twice and lose nothing (crew %i, WARMWARDEN_SEED=${seed})`,
    async (index) => {
      const processes = index % 2 === 0 ? 3 : 2;
      await using crew = await Crew.start(postgres, processes, accounts);
      const play = new Play(crew, seed + index);
      for (let left = Math.ceil(rounds / crews); left > 0; left -= 1) await play.round();
      process.stdout.write(`${JSON.stringify({ seed, crew: index, processes, ...(await play.end()) })}\n`);
    },
    (10 + 2 * rounds) * minuteMs,
  );
});
