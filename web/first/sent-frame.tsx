let sent: Element | null = null;

/** Keeps the frame that the server sent into `place` (index.html), because the first rendering empties it. */
export function keepSentFrame(place: HTMLElement): void {
  sent = place.firstElementChild;
}

/** The frame that the server sent, until the portal knows what to show instead. */
export function SentFrame() {
  return (
    <div
      ref={(place) => {
        if (sent) place?.append(sent);
      }}
    />
  );
}
