import { expect, test } from 'vitest';
import {
  OFFLOAD_CASES,
  OFFLOAD_EVERYTHING,
  OFFLOAD_EVERYTHING_CASES,
  OFFLOAD_PATHS,
} from './offload-rule.fixture.ts';
import { offloadRulesOf, offloadType } from './offload-rule.ts';

const asked = (path: string) => ({
  relative: path.split('/').filter(Boolean).join('/'),
  folder: path.endsWith('/'),
});

test.each(OFFLOAD_CASES)('%s goes %s', (path, type) => {
  expect(offloadType(offloadRulesOf(OFFLOAD_PATHS), asked(path))).toBe(type);
});

test.each(OFFLOAD_EVERYTHING_CASES)('with a rule for everything, %s goes %s', (path, type) => {
  expect(offloadType(offloadRulesOf(OFFLOAD_EVERYTHING), asked(path))).toBe(type);
});
