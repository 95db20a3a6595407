// Writes the table of host commands into decisions/host-commands.md from their declaration: `npm run docs:commands`.
import { readFileSync, writeFileSync } from 'node:fs';
import { withCommandsTable } from '../src/hosting/policy/commands-table.ts';

const page = new URL('decisions/host-commands.md', import.meta.url);
writeFileSync(page, withCommandsTable(readFileSync(page, 'utf8')));
