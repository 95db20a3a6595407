/** Notifies running jobs of new deliveries in their lane, so that a busy lane needs only one job. */
export interface Arrivals {
  /** Call it when deliveries of a lane have been committed. */
  arrived(webhookId: string, lane: string): void;
  listen(webhookId: string, lane: string): Arrival;
}

/** Listens to one lane. */
export interface Arrival {
  /** Whether deliveries have arrived since the last call, or arrive before this time is over. */
  within(ms: number): Promise<boolean>;
  close(): void;
}

const keyOf = (webhookId: string, lane: string) => `${webhookId} ${lane}`;

export function createArrivals(): Arrivals {
  const listeners = new Map<string, () => void>();
  return {
    arrived(webhookId, lane) {
      listeners.get(keyOf(webhookId, lane))?.();
    },
    listen(webhookId, lane) {
      const key = keyOf(webhookId, lane);
      let next = Promise.withResolvers<boolean>();
      const heard = () => next.resolve(true);
      listeners.set(key, heard);
      return {
        async within(ms) {
          const timer = setTimeout(() => next.resolve(false), ms);
          const hasArrived = await next.promise;
          clearTimeout(timer);
          next = Promise.withResolvers();
          return hasArrived;
        },
        close() {
          if (listeners.get(key) === heard) listeners.delete(key);
        },
      };
    },
  };
}
