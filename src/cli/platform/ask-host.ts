import { ProtocolError } from '../../hosting/contract/command.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import {
  connectHost,
  HostUnreachableError,
  type RemoteHost,
  type TimeLimits,
} from '../../hosting/remote/client.ts';
import type { HostTarget } from '../../hosting/remote/host-target.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/**
 * Sends a slow request to a host. The host must identify itself first, which is fast, so that a hanging host is noticed early.
 * Throws OperatorError if the operator can act on the failure.
 */
export async function askHost<Result>(
  target: HostTarget,
  ask: (host: RemoteHost) => Promise<Result>,
  limits: TimeLimits = {},
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
      throw new OperatorError(`The host ${target.name} sent an invalid response: ${error.message}.`, {
        cause: error,
      });
    }
    throw error;
  } finally {
    await remote.close();
  }
}
