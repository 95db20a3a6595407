import { createProgram } from './cli/program.ts';
import { reportFailure } from './cli/report-failure.ts';

try {
  await createProgram().parseAsync();
} catch (error) {
  reportFailure(error);
}
