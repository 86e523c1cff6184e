// What people are told of an error of PostgreSQL, by its code, and what ends it.
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { placeAt } from '../../src/config/places.ts';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { failureOf } from '../../src/store/postgres/failure.ts';
import { Store } from '../../src/store/store.ts';
import { now } from './records.ts';

const place: PostgresPlace = {
  ...{ host: 'db.example', port: 5432, database: 'warden', user: 'app', password: null },
  ...{ tls: { kind: 'off' }, path: '/tmp/store' },
};
const failure = (code: string, at = place) => failureOf(at, Object.assign(new Error('no'), { code }));

test.each([
  ['too many connections', '53300', /Raise max_connections/],
  ['a password that was changed', '28P01', /Check the user app and its password/],
  ['a transaction that paused', '25P03', /A transaction paused for 2 s/],
  ['a transaction that took too long', '25P04', /raise transaction_timeout of the role/],
  ['a server that is read-only', '25006', /Point store\.url at the primary/],
  ['a certificate that expired', 'CERT_HAS_EXPIRED', /Set store\.ca_file/],
])('%s is no connection: it is over once the store is written again', (_, code, remedy) => {
  expect(failure(code)).toMatchObject({ untilWritten: true, remedy: expect.stringMatching(remedy) });
});

test('a statement that fails is over once that statement succeeds', () => {
  for (const code of ['42501', '42P01', '57014', '53100']) expect(failure(code).untilWritten).toBe(undefined);
});

test('a statement that takes too long: the setting of the role helps only behind a pooler, where Warmwarden sets none of its own', () => {
  const less =
    'A statement took too long: reduce the load of the PostgreSQL server, or use a faster one; Warmwarden then continues by itself.';
  expect(failure('57014').remedy).toBe(less);
  const pooled = { ...place, isPooled: true };
  expect(failure('57014', pooled).remedy).toBe(
    `${less} If statement_timeout of the role is shorter than 20 s, run ALTER ROLE app IN DATABASE warden SET statement_timeout = '20s'; and RECONNECT in the pooler.`,
  );
});

test('a wrong port at the start: check the address, and start Warmwarden again', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const wrong = placeAt(`postgres://warden@127.0.0.1:${port}/warmwarden`);
  if (typeof wrong === 'string') throw new Error(wrong);
  await expect(Store.open(wrong, now)).rejects.toThrow(
    /does not answer: .*\. Check the host and the port in store\.url\. Start PostgreSQL or repair the network, and try again\.?$/,
  );
});
