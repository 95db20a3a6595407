/** Counts requests of each website, up to a limit. */
export interface RequestCounts {
  /** Counts a request until {@link end}. Returns false if the website has too many. */
  begin(installId: string): boolean;
  end(installId: string): void;
}

export function createRequestCounts(most: number): RequestCounts {
  const counts = new Map<string, number>();
  return {
    begin(installId) {
      const present = counts.get(installId) ?? 0;
      if (present >= most) return false;
      counts.set(installId, present + 1);
      return true;
    },
    end(installId) {
      const others = (counts.get(installId) ?? 1) - 1;
      if (others === 0) counts.delete(installId);
      else counts.set(installId, others);
    },
  };
}
