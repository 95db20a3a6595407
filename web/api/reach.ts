/** Whether the server answers now: what else has failed is then a fault, and no loss of the connection. */
export async function isReachable(): Promise<boolean> {
  try {
    const { ok } = await fetch(document.baseURI, { method: 'HEAD', cache: 'no-store' });
    return ok;
  } catch {
    return false;
  }
}
