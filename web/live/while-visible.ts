/**
 * Begins something whenever the page comes into sight, and ends it when it goes out of it, until the returned function is called.
 * `begin` returns how to end it.
 */
export function whileVisible(
  begin: () => () => void,
  page: Pick<Document, 'addEventListener' | 'removeEventListener' | 'hidden'> = document,
): () => void {
  let end: (() => void) | undefined;
  const stop = () => {
    end?.();
    end = undefined;
  };
  const look = () => {
    if (page.hidden) stop();
    else end ??= begin();
  };
  page.addEventListener('visibilitychange', look);
  look();
  return () => {
    page.removeEventListener('visibilitychange', look);
    stop();
  };
}
