// A cron expression with a range of a million took 2.96 GB: node-cron writes ranges out before it looks at their bounds.

import { expect, test } from 'vitest';
import { cronSchedule } from '../../src/world/schedule.ts';

const refusal = 'is not a value, range or step of a field';

test.each([
  '0-1000000 * * * *',
  '* * * * 1-100000000',
  // Names become numbers by replacement: these two are 12121212.
  '0 0 1 0-decdecdecdec *',
  '0 0 1 1-12decdecdec *',
  '*9999999 * * * *',
  '9999999-* * * * *',
  '0-59,0-1000000/2 * * * *',
])('%s is refused before it is written out', (expression) => {
  expect(() => cronSchedule(expression)).toThrow(refusal);
});

test.each([
  '0 */5 * * * *',
  '0-59/5,7 8-18 * jan-mar,DEC Mon-Fri',
  '0 0 L-3 * *',
  '0 0 15W,LW * *',
  '0 0 * * friL',
  '0 0 * * 1#2',
  '50-10 * * * *',
  '@daily',
  '  0   8 * * *  ',
])('%s is read as before', (expression) => {
  expect(() => cronSchedule(expression)).not.toThrow();
});
