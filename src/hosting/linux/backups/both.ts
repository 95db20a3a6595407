/** Both, side by side; a failure is told only when the other has ended as well, so that nothing is undone under its hands. */
export async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}
