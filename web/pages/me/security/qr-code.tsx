import { encode } from 'uqr';
import { qrPath } from './qr-path.ts';
import styles from './security.module.css';

/** Readers need a margin of four modules (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/** A QR code. It is dark on light in every theme, because some readers cannot read it inverted. */
export default function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  return (
    <svg className={styles.qr} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={qrPath(data)} shapeRendering="crispEdges" />
    </svg>
  );
}
