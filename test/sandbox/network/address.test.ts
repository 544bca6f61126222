import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { addressKind, isOwnAddress } from '../../../sandbox/network/address.ts'

test.each([
  ['93.184.215.14', 'public'],
  ['1.1.1.1', 'public'],
  ['2606:4700::1111', 'public'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['::1', 'loopback'],
  ['0.0.0.0', 'reserved'],
  ['::', 'reserved'],
  ['10.1.2.3', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['172.32.0.1', 'public'],
  ['192.168.1.1', 'private'],
  ['fc00::1', 'private'],
  ['fdff::1', 'private'],
  ['fec0::1', 'private'],
  ['169.254.1.1', 'link-local'],
  ['fe80::1', 'link-local'],
  ['febf::1', 'link-local'],
  ['100.64.0.1', 'shared'],
  ['100.127.255.255', 'shared'],
  ['100.128.0.1', 'public'],
  ['169.254.169.254', 'metadata'],
  ['168.63.129.16', 'metadata'],
  ['100.100.100.200', 'metadata'],
  ['fd00:ec2::254', 'metadata'],
  ['fd00:0ec2:0:0::254', 'metadata'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['ff02::1', 'multicast'],
  ['255.255.255.255', 'reserved'],
  ['192.0.2.1', 'reserved'],
  ['198.18.0.1', 'reserved'],
  ['2001:db8::1', 'reserved'],
  // Addresses that contain other addresses
  ['::ffff:10.0.0.1', 'private'],
  ['::ffff:8.8.8.8', 'public'],
  ['::ffff:169.254.169.254', 'metadata'],
  ['64:ff9b::7f00:1', 'loopback'],
  ['64:ff9b::808:808', 'public'],
  ['64:ff9b:1::1', 'reserved'],
  ['::127.0.0.1', 'reserved'],
  ['2002:7f00:1::', 'reserved'],
  ['2001:0:4136:e378::1', 'reserved'],
  ['not an address', 'reserved'],
])('%s is %s', (address, kind) => {
  expect(addressKind(address)).toBe(kind)
})

test("this machine's own addresses are known", () => {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  for (const { address } of own) expect(isOwnAddress(address)).toBe(true)
  expect(isOwnAddress('192.0.2.77')).toBe(false)
})
