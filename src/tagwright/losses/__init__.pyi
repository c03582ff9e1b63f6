# made by `make stubs`; a test holds it current
from tagwright.losses._divergence import kl as kl, symmetric_kl as symmetric_kl
from tagwright.losses._module import LossModule as LossModule
from tagwright.loss_math.sparse import SparseMask as SparseMask, SparseTarget as SparseTarget
from tagwright.losses.adaptive_threshold import AdaptiveThresholdLoss as AdaptiveThresholdLoss, adaptive_threshold as adaptive_threshold
from tagwright.losses.asymmetric import AsymmetricLoss as AsymmetricLoss, asymmetric as asymmetric
from tagwright.losses.batch_dice import BatchDiceLoss as BatchDiceLoss, batch_dice as batch_dice
from tagwright.losses.bce import BinaryCrossEntropyLoss as BinaryCrossEntropyLoss, bce as bce
from tagwright.losses.bpmll import BPMLLLoss as BPMLLLoss, bpmll as bpmll
from tagwright.losses.cecl import CECLLoss as CECLLoss, cecl as cecl
from tagwright.losses.cross_entropy import CrossEntropyLoss as CrossEntropyLoss, cross_entropy as cross_entropy
from tagwright.losses.dice import DiceLoss as DiceLoss, dice as dice
from tagwright.losses.distribution_balanced import DistributionBalancedLoss as DistributionBalancedLoss, distribution_balanced as distribution_balanced
from tagwright.losses.focal import FocalLoss as FocalLoss, focal as focal
from tagwright.losses.logit_adjusted import LogitAdjustedLoss as LogitAdjustedLoss, logit_adjusted as logit_adjusted
from tagwright.losses.lsep import LSEPLoss as LSEPLoss, lsep as lsep
from tagwright.losses.pbp import PBPLoss as PBPLoss, pbp as pbp
from tagwright.losses.ranking import RankingLoss as RankingLoss, ranking as ranking
from tagwright.losses.sigmoid_f1 import SigmoidF1Loss as SigmoidF1Loss, sigmoid_f1 as sigmoid_f1
from tagwright.losses.squared_error import SquaredErrorLoss as SquaredErrorLoss, squared_error as squared_error
from tagwright.losses.squared_hinge import SquaredHingeLoss as SquaredHingeLoss, squared_hinge as squared_hinge
from tagwright.losses.two_way import TwoWayLoss as TwoWayLoss, two_way as two_way
from tagwright.losses.warp import WARPLoss as WARPLoss, warp as warp
from tagwright.losses.zlpr import ZLPRLoss as ZLPRLoss, zlpr as zlpr
