import { PermanentHostError } from '../../hosting/contract/host.ts';
import { connectHost, HostUnreachableError, type RemoteHost } from '../../hosting/remote/client.ts';
import type { HostTarget } from '../../hosting/remote/host-target.ts';
import { ProtocolError } from '../../hosting/remote/protocol.ts';
import type { TimeLimits } from '../../hosting/remote/time-limits.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/**
 * Asks a host something that may take a while. It has to say first who it is, which takes none: nobody waits long at the terminal
 * for one that hangs. What the person there can do something about is thrown as an OperatorError.
 */
export async function askHost<Result>(
  target: HostTarget,
  ask: (host: RemoteHost) => Promise<Result>,
  limits: Partial<TimeLimits> = {},
): Promise<Result> {
  const remote = connectHost(target, limits);
  try {
    await remote.describe();
    return await ask(remote);
  } catch (error) {
    if (error instanceof PermanentHostError || error instanceof HostUnreachableError) {
      throw new OperatorError(error.message, { cause: error });
    }
    if (error instanceof ProtocolError) {
      throw new OperatorError(`The host ${target.name} is not understood: ${error.message}.`, {
        cause: error,
      });
    }
    throw error;
  } finally {
    await remote.close();
  }
}
