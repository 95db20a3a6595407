// Writes vitest's JSON report, with the errors outside of all tests, which it leaves out: they are `errorsOutside`.
import { readFileSync, writeFileSync } from 'node:fs';
import { JsonReporter } from 'vitest/node';

export default class extends JsonReporter {
  async onTestRunEnd(modules, errors) {
    await super.onTestRunEnd(modules);
    const file = this.ctx.config.outputFile.json;
    const report = JSON.parse(readFileSync(file, 'utf8'));
    const errorsOutside = errors.map(
      ({ message, stack }) => stack || message || 'The reason is in the output above.',
    );
    writeFileSync(file, JSON.stringify({ ...report, errorsOutside }));
  }
}
