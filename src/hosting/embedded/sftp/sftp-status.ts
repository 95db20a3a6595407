import ssh2 from 'ssh2';
import { codeOf, hasCode } from '../../../lib/error-code.ts';
import { NotContainedError } from '../host-folder/contained-file.ts';

const { STATUS_CODE } = ssh2.utils.sftp;

/** A refused request, with its SFTP status code (draft-ietf-secsh-filexfer-02 section 7) and a message. */
class SftpRefusal extends Error {
  override name = 'SftpRefusal';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const refusal = {
  eof: () => new SftpRefusal(STATUS_CODE.EOF, 'End of file'),
  denied: (message: string) => new SftpRefusal(STATUS_CODE.PERMISSION_DENIED, message),
  failed: (message: string) => new SftpRefusal(STATUS_CODE.FAILURE, message),
  malformed: (message: string) => new SftpRefusal(STATUS_CODE.BAD_MESSAGE, message),
  unsupported: (message: string) => new SftpRefusal(STATUS_CODE.OP_UNSUPPORTED, message),
};

/** System errors that a customer can cause, with OpenSSH's status codes and plainer messages. */
const SYSTEM: Record<string, [code: number, message: string]> = {
  ENOENT: [STATUS_CODE.NO_SUCH_FILE, 'There is no such file or folder'],
  ENOTDIR: [STATUS_CODE.NO_SUCH_FILE, 'Part of the path is not a folder'],
  EACCES: [STATUS_CODE.PERMISSION_DENIED, 'Permission denied'],
  EPERM: [STATUS_CODE.PERMISSION_DENIED, 'Permission denied'],
  ELOOP: [STATUS_CODE.PERMISSION_DENIED, 'The link leads nowhere or out of the website'],
  EEXIST: [STATUS_CODE.FAILURE, 'It exists already'],
  ENOTEMPTY: [STATUS_CODE.FAILURE, 'The folder is not empty'],
  EISDIR: [STATUS_CODE.FAILURE, 'It is a folder'],
  EINVAL: [STATUS_CODE.FAILURE, 'That is not possible'],
  EBADF: [STATUS_CODE.FAILURE, 'The file was not opened for that'],
  ENAMETOOLONG: [STATUS_CODE.FAILURE, 'The name is too long'],
  ENXIO: [STATUS_CODE.FAILURE, 'It is not a regular file'],
  EFBIG: [STATUS_CODE.FAILURE, 'The file would become too large'],
  ENOSPC: [STATUS_CODE.FAILURE, 'The disk is full'],
  EDQUOT: [STATUS_CODE.FAILURE, 'The disk quota is used up'],
};

/** The response to a failed request, or null if a customer cannot cause that failure. */
export function refusalOf(error: unknown): SftpRefusal | null {
  if (error instanceof SftpRefusal) return error;
  if (error instanceof NotContainedError) return refusal.denied('The link leads out of the website');
  const known = SYSTEM[codeOf(error) ?? ''];
  return known === undefined ? null : new SftpRefusal(...known);
}

/** Disk failures, which are logged for the operator. */
export function isOperatorsMatter(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT');
}
