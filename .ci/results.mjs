// Reads the reports of `report.mjs` for `.ci/run`. Runs on Node 20, without a dependency.
//
//   results.mjs files REPORT               the files in which a test failed, a line each
//   results.mjs count STATUS REPORT ...    takes the exit status and the report of each run, prints every failure,
//                                          then the tests that were skipped, the files that took longest, and
//                                          "N passed, N failed"; exits with 1 if any failed
//
// REPORT.again may hold a second run of the failed files. A test that passed only there counts as passed and is named,
// because it depends on luck and needs a fix. An error outside of all tests always counts as failed.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Lines shown of a failure: the difference without the whole stack. */
const MESSAGE_LINES = 25;

/** Files of each run that are named for the time they took. */
const LONGEST_FILES = 10;

const parse = (report) => JSON.parse(readFileSync(report, 'utf8'));
const read = (report) => parse(report).testResults;

/** Errors of a report that belong to no test, such as a rejection that nothing handles. */
const errorsOutside = (report) => (parse(report).errorsOutside ?? []).map((message) => ({ message }));

/** Failed tests of a report, by file and name. A file fails as a whole if it could not be loaded, or only a hook failed. */
function failures(report) {
  return read(report).flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const failed = assertionResults.filter((each) => each.status === 'failed');
    if (status === 'failed' && failed.length === 0)
      return [{ file, test: 'the file itself', message: message || 'The reason is in the output above.' }];
    return failed.map((each) => ({
      file,
      test: each.fullName,
      message: each.failureMessages.join('\n'),
    }));
  });
}

const passedIn = (report) =>
  read(report).flatMap(({ assertionResults }) => assertionResults.filter(({ status }) => status === 'passed'))
    .length;

/** Whether another report shows that a failed test passed: it has the file without failures. */
function passesIn(report, { file }) {
  const ran = read(report).some(
    ({ name, status }) => relative(process.cwd(), name) === file && status === 'passed',
  );
  return ran && !failures(report).some((each) => each.file === file);
}

function tell(title, { file, test, message }) {
  const lines = message.split('\n').slice(0, MESSAGE_LINES);
  const place = file === undefined ? 'an error outside of all tests' : `${file} > ${test}`;
  console.log(`\n${title}: ${place}\n${lines.map((line) => `    ${line}`).join('\n')}`);
}

/** Prints the tests that this machine lacks something for. A skipped test hides a failure, so a glance must be enough to see it. */
function tellSkipped(report) {
  const skipped = read(report)
    .filter(({ status }) => status === 'passed')
    .flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'skipped')
        .map(({ fullName }) => `    ${relative(process.cwd(), name)} > ${fullName}`),
    );
  if (skipped.length > 0) console.log(`\nSkipped here: ${skipped.length} tests\n${skipped.join('\n')}`);
}

/** Prints the files of a run that took longest, with their part of its seconds. docs/decisions/tests.md has their budget. */
function tellLongest(report) {
  const files = read(report).map(({ name, startTime, endTime }) => ({
    file: relative(process.cwd(), name),
    seconds: (endTime - startTime) / 1000,
  }));
  if (files.length <= LONGEST_FILES) return;
  const all = files.reduce((sum, { seconds }) => sum + seconds, 0);
  const longest = files.sort((a, b) => b.seconds - a.seconds).slice(0, LONGEST_FILES);
  console.log(`\nThe longest of ${files.length} files, which took ${Math.round(all)} s one after the other:`);
  for (const { file, seconds } of longest) console.log(`${seconds.toFixed(1).padStart(8)} s  ${file}`);
}

/** Prints the failures of one run, and counts. */
function countOf(status, report) {
  let passed = passedIn(report);
  let failed = 0;
  const failing = failures(report);
  const again = existsSync(`${report}.again`) ? `${report}.again` : null;
  for (const each of failing) {
    const second = again !== null && passesIn(again, each);
    tell(second ? 'Passed only when run again' : 'Failed', each);
    if (second) passed += 1;
    else failed += 1;
  }
  const outside = [report, ...(again === null ? [] : [again])].flatMap(errorsOutside);
  if (status !== '0' && failing.length + outside.length === 0)
    outside.push({ message: 'The reason is in the output above.' });
  for (const each of outside) tell('Failed', each);
  failed += outside.length;
  return { passed, failed };
}

function count(runs) {
  const sum = { passed: 0, failed: 0 };
  for (const [status, report] of runs) {
    try {
      const { passed, failed } = countOf(status, report);
      sum.passed += passed;
      sum.failed += failed;
      tellSkipped(report);
      tellLongest(report);
    } catch (error) {
      console.log(`\nFailed: the report of a run cannot be read: ${error.message}`);
      sum.failed += 1;
    }
  }
  console.log(`\n${sum.passed} passed, ${sum.failed} failed`);
  process.exitCode = sum.failed === 0 && sum.passed > 0 ? 0 : 1;
}

const [command, ...words] = process.argv.slice(2);
if (command === 'files') {
  for (const file of new Set(failures(words[0]).map((each) => each.file))) console.log(file);
} else {
  count(words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1]]] : [])));
}
