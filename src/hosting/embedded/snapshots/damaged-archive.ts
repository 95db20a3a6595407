/** The manifest or the content of a backup differs from what was written. `message` says what is wrong, without a final full stop. */
export class DamagedArchiveError extends Error {
  override name = 'DamagedArchiveError';
}
