/** Requests that PHP still works on after their visitor has left, such as the one by which WordPress starts its scheduled tasks. */
export interface LeftRequests {
  /** Counts a request until {@link end}. Returns false if the website has too many: they wait without a connection that limits them. */
  begin(installId: string): boolean;
  end(installId: string): void;
}

export function createLeftRequests(most: number): LeftRequests {
  const left = new Map<string, number>();
  return {
    begin(installId) {
      const present = left.get(installId) ?? 0;
      if (present >= most) return false;
      left.set(installId, present + 1);
      return true;
    },
    end(installId) {
      const others = (left.get(installId) ?? 1) - 1;
      if (others === 0) left.delete(installId);
      else left.set(installId, others);
    },
  };
}
