import { expect, it } from 'vitest';
import { outputOfCompleted } from './completed-script.ts';

it.each([
  ['<p>Error establishing a database connection</p>', null],
  ['', null],
  ['{"completed":true', null],
  ['{"before":1,"after":2}\n\n{"completed":true}\n', '{"before":1,"after":2}'],
  ['\n{"completed":true}\n<!-- cached -->\n', ''],
])('a script has completed only if it says so: %j', (output, printed) => {
  expect(outputOfCompleted(output)).toBe(printed);
});
