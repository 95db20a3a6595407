import { pino } from 'pino';
import { startHostMachine } from '../../src/app/linux-host.ts';
import { readConfig } from '../../src/config/config.ts';

// The Linux host as `homeport host` runs it, in a process of its own, which writes a line for each step of making a website:
// JSON, see StepDone in bench-host.ts. Argument: instance.
const [, , instance] = process.argv;
if (instance === undefined) throw new Error('usage: host-process.ts <instance>');

const machine = await startHostMachine(readConfig(process.env), {
  instance,
  log: pino({ level: 'error' }, pino.destination(2)),
  reached(step, { id }) {
    process.stdout.write(`${JSON.stringify({ step, id, at: performance.timeOrigin + performance.now() })}\n`);
  },
});
process.once('SIGTERM', () => void machine.stop().then(() => process.exit(0)));
process.stdout.write('ready\n');
