import { pino } from 'pino';
import { startHostMachine } from '../../src/app/linux-host.ts';
import { readConfig } from '../../src/config/config.ts';

// The Linux host as run by `homeport host`, in a separate process. Writes a JSON line for each step of creating a website (StepDone in
// bench-host.ts). Argument: instance.
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
