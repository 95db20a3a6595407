import { expect, it } from 'vitest';
import { parseTraceparent, traceparentOf } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

it.each([
  [`00-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-00`, false],
  // Unknown flags, and a later version with another field.
  [`00-${TRACE}-${SPAN}-fe`, false],
  [`01-${TRACE}-${SPAN}-03-more`, true],
])('reads %s', (text, isSampled) => {
  const context = { traceId: TRACE, spanId: SPAN, isSampled };
  expect(parseTraceparent(text)).toEqual(context);
  expect(parseTraceparent(traceparentOf(context))).toEqual(context);
});

it.each([
  undefined,
  '',
  ['a', 'b'],
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01\n`,
])('ignores %j', (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});
