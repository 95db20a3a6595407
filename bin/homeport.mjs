#!/usr/bin/env node
// Plain JavaScript, so that an old Node gets this sentence and not a syntax error: Homeport's sources are
// TypeScript run as they are, and better-sqlite3 crashes the process on Node 20.
import { fileURLToPath } from 'node:url';

const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `homeport: Node ${process.versions.node} is too old; Homeport runs on Node 24.\n` +
      'Run "npm ci" in its folder, then start it through npm ("npm start", "npx homeport …"): npm brings Node 24 along.\n',
  );
  process.exit(1);
}

// Keeps what was compiled, so that the next start neither strips types nor compiles again: a third of the time and
// some 20 MB. Where the folder cannot be written, all is as if this line were not here.
const { enableCompileCache } = await import('node:module');
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/homeport', import.meta.url)));

await import('../src/main.ts');
