import { testConfiguration } from '../../src/hosting/linux/nginx/refusals.ts';
import { median, timed } from '../measure/units.ts';

const REPEATED = 3;

/** Milliseconds of `nginx -t`. */
export async function timeTest(configuration: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < REPEATED; n++) {
    times.push(
      await timed(async () => {
        const { refusal } = await testConfiguration(configuration);
        if (refusal !== null) throw new Error(refusal);
      }),
    );
  }
  return median(times);
}
