import './lib/certificates/safe-peer-certificate.ts';
import { settingsOfMachine } from './cli/host/machine-settings.ts';
import { createProgram } from './cli/program.ts';
import { surviveLostOutput } from './cli/terminal/lost-output.ts';
import { reportFailure } from './cli/terminal/report-failure.ts';

surviveLostOutput(process.stdout, process.stderr);
try {
  await createProgram(settingsOfMachine).parseAsync();
} catch (error) {
  reportFailure(error);
}
