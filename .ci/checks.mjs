// Runs `npm run types`, `style` and `layers`, also those after one that fails. Runs on Node 20, without a dependency.
//
//   checks.mjs REPORT
//
// Prints what they print. Writes REPORT in the form of vitest's JSON reports, which results.mjs reads. Ends with 1 if one failed.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const assertionResults = ['types', 'style', 'layers'].map((script) => {
  const { status, signal } = spawnSync('npm', ['run', '--silent', script], { stdio: 'inherit' });
  const passed = status === 0;
  console.log(`${passed ? 'passed' : 'failed'}: ${script}`);
  return {
    status: passed ? 'passed' : 'failed',
    fullName: script,
    failureMessages: passed ? [] : [`It ended with ${signal ?? status}. The reason is in the output above.`],
  };
});
const failed = assertionResults.some(({ status }) => status === 'failed');
const name = fileURLToPath(import.meta.url);
writeFileSync(
  process.argv[2],
  JSON.stringify({
    testResults: [{ name, status: failed ? 'failed' : 'passed', message: '', assertionResults }],
  }),
);
process.exitCode = failed ? 1 : 0;
