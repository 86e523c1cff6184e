// What is said when PostgreSQL does not answer at the start: the address may be wrong, and nobody tries again.

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { placeAt } from '../../src/config/places.ts';
import { Store } from '../../src/store/store.ts';
import { now } from './records.ts';

test('at a wrong port: check the address, and start Warmwarden again', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const place = placeAt(`postgres://warden@127.0.0.1:${port}/warmwarden`);
  if (typeof place === 'string') throw new Error(place);
  const refused = await Store.open(place, now).catch((error: unknown) => String(error));
  expect(refused).toMatch(
    /does not answer: .*\. Check the host and the port in store\.url\. Start PostgreSQL or repair the network, and try again\.?$/,
  );
});
