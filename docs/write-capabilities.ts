// Writes the table of capabilities into embedded-host.md from their declaration: `npm run docs:capabilities`.
import { readFileSync, writeFileSync } from 'node:fs';
import { withCapabilitiesTable } from '../src/hosting/policy/capabilities-table.ts';

const page = new URL('embedded-host.md', import.meta.url);
writeFileSync(page, withCapabilitiesTable(readFileSync(page, 'utf8')));
