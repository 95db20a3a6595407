import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { DESCRIPTIONS, fetchDescription } from './describe.ts';
import { typesOf } from './types-of-description.ts';

describe('the types of the client', () => {
  let homeport: TestHomeport;
  beforeAll(async () => {
    homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  });
  afterAll(() => homeport.remove());

  it.each(Object.entries(DESCRIPTIONS))(
    '%s matches the description of the server (npm run web:types)',
    async (file, path) => {
      const described = typesOf(await fetchDescription(homeport, path));
      expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).toBe(described);
    },
  );
});
