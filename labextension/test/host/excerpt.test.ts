import { describe, expect, it } from 'vitest';
import { bounded, LABEL_LIMIT, oneLine, TEXT_LIMIT } from '../../src/lab/excerpt';

describe('what leaves a notebook', () => {
  it('is left as it is when it fits', () => {
    expect(bounded('x'.repeat(TEXT_LIMIT))).toHaveLength(TEXT_LIMIT);
  });

  it('is cut to the limit and says how much is missing', () => {
    const text = bounded('x'.repeat(250_000));
    expect(text.length).toBeLessThanOrEqual(TEXT_LIMIT);
    const [, said] = /\[truncated: ([\d,]+) more characters\]$/.exec(text) ?? [];
    const kept = text.indexOf('\n[truncated');
    expect(Number(said.replaceAll(',', ''))).toBe(250_000 - kept);
  });

  it('is never cut inside a character', () => {
    for (const limit of [60, 61]) {
      expect(bounded('😀'.repeat(100), limit)).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
    }
    expect(oneLine('😀'.repeat(LABEL_LIMIT))).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
  });

  it('gets a label of one short line', () => {
    expect(oneLine('  import pandas\n\n  as pd ')).toBe('import pandas as pd');
    expect(oneLine('n'.repeat(300))).toHaveLength(LABEL_LIMIT);
  });
});
