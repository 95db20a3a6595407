import { pino } from 'pino';
import { expect, it } from 'vitest';
import { BrokenWebsiteError } from '../../contract/errors.ts';
import type { ImportableWebsite } from './importable-website.ts';
import { createWebsiteImports } from './website-imports.ts';

const shop = { id: '00000000-0000-4000-8000-000000000001', name: 'shop' };
const imported = { tablePrefix: 'wp_', files: 1, bytes: 2, notes: [] };

/** Imports of a host that was killed after it had put the website in place. */
function importsThatServe(serve: ImportableWebsite['serve']) {
  const website: ImportableWebsite = {
    limits: { bytes: null, files: null },
    recover: async () => {},
    record: async () => JSON.stringify({ importId: 'an import', website: imported }),
    stage: () => Promise.reject(new Error('built again')),
    serve,
    warning: async () => null,
  };
  return createWebsiteImports({ websiteOf: async () => website, log: pino({ level: 'silent' }) });
}
const ask = (serve: ImportableWebsite['serve']) =>
  importsThatServe(serve).importWebsite(shop, { file: 'private/a.zip' }, { importId: 'an import' });

it('an import that is repeated after its website was put in place builds nothing again', async () => {
  expect(await ask(async () => {})).toEqual(imported);
});

it('an import fails if its website does not answer, so that its checkpoint is put back', async () => {
  const broken = new BrokenWebsiteError('the home page answers 500');
  await expect(ask(() => Promise.reject(broken))).rejects.toBe(broken);
});
