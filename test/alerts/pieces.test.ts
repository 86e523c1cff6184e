// Long lists of alerts, worked through with pauses.
import { expect, test } from 'vitest';
import { alertsAPiece, mapInPieces } from '../../src/alerts/pieces.ts';

test('many short lists, one after the other, let others have a turn as a long one does', async () => {
  const rowsBetweenPauses: number[] = [];
  let rows = 0;
  const pause = async () => {
    rowsBetweenPauses.push(rows);
    rows = 0;
  };
  const of = (row: number) => {
    rows += 1;
    return row % 2 === 0 ? row : null;
  };
  const short = Array.from({ length: alertsAPiece - 1 }, (_, row) => row);
  for (let list = 0; list < 10; list += 1) {
    expect(await mapInPieces(short, pause, of)).toEqual(short.filter((row) => row % 2 === 0));
  }
  expect(rows).toBe(0);
  expect(Math.max(...rowsBetweenPauses)).toBeLessThanOrEqual(alertsAPiece);
});
