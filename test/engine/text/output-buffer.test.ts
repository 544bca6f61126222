import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OutputBuffer } from '../../../engine/core/text/output-buffer.ts'

test('keeps the first and the last bytes of any output and counts the rest, however the output is split', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), fc.integer({ min: 2, max: 60 }), (pieces, limit) => {
      const buffer = new OutputBuffer(limit)
      for (const piece of pieces) buffer.push(piece)
      const whole = Buffer.concat(pieces)
      const head = Math.ceil(limit / 2)
      const tail = Math.floor(limit / 2)
      if (whole.length <= limit) {
        expect(buffer.toBytes()).toEqual(whole)
        expect(buffer.omitted).toBe(0)
      } else {
        expect(buffer.omitted).toBe(whole.length - limit)
        expect(buffer.toBytes().subarray(0, head)).toEqual(whole.subarray(0, head))
        expect(buffer.toBytes().subarray(-tail)).toEqual(whole.subarray(-tail))
      }
    }),
  )
})
